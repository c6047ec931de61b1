/** Loaded into the server beside the program: collects garbage when asked, so that only what is kept is measured. */

if (process.send !== undefined && globalThis.gc !== undefined) {
  const collect = globalThis.gc;
  process.on("message", () => {
    // As if memory had run out: what is merely kept at hand is given back too.
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
    process.send!(process.memoryUsage());
  });
  // The program ends when it wants to, whoever still listens here.
  process.channel?.unref();
}
