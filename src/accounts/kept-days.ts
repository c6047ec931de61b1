/** Days for which sign-ins are kept, which `/privacy` states. */

/** A session, if it is used. */
export const sessionDays = 7;
/** A browser that somebody has signed in with, after its last use. */
export const knownBrowserDays = 180;
/** A link after it has expired, so that the operator can see why it was refused. */
export const endedLinkDays = 7;
