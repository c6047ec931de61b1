/** Loaded before the program of a server: its wall clock is ahead, as on a machine whose clock nobody sets. */
const now = Date.now;
const ahead = Number(process.env["CLOCK_AHEAD_MILLISECONDS"]);
Date.now = () => now() + ahead;
