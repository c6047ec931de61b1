/** Loaded into the server beside the program: collects garbage in every thread when asked, so that only what is kept is measured. */
import { BroadcastChannel, isMainThread } from "node:worker_threads";

const collect = globalThis.gc;
if (collect !== undefined) {
  // As if memory had run out: what is merely kept at hand is given back too.
  const collectAll = () => collect({ type: "major", execution: "sync", flavor: "last-resort" });
  const threads = new BroadcastChannel("collect garbage");
  threads.unref();
  if (isMainThread && process.send !== undefined) {
    process.on("message", () => {
      threads.postMessage("collect");
      collectAll();
      process.send!(process.memoryUsage());
    });
    // The program ends when it wants to, whoever still listens here.
    process.channel?.unref();
  } else threads.onmessage = collectAll;
}
