/** Numbers of days for which data about sign-ins is kept. `/privacy` states them. */

/** Maximum lifetime of a session that stays in use. */
export const sessionDays = 7;
/** Time for which a browser is known after the last sign-in with it. */
export const knownBrowserDays = 180;
/** Time for which a link is kept after its expiry, so that the operator can see why it was refused. */
export const endedLinkDays = 7;
