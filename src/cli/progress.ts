/** Shows on a terminal, and only there, how far a long command is. */

export interface Progress {
  show(count: number): void;
  clear(): void;
}

const everyMilliseconds = 100;

/** @param what is counted: "lines read". */
export function showProgress(what: string): Progress {
  const { stderr } = process;
  let shownAt = 0;
  if (!stderr.isTTY) return { show() {}, clear() {} };
  return {
    show(count) {
      const now = performance.now();
      if (now - shownAt < everyMilliseconds) return;
      shownAt = now;
      stderr.write(`\r${count.toLocaleString("en-US")} ${what}`);
    },
    clear() {
      if (shownAt > 0) stderr.write("\r\u001b[K");
      shownAt = 0;
    },
  };
}
