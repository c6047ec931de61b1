/** Shows the progress of a long command: on a terminal in one line that is rewritten, elsewhere only on request. */

interface Progress {
  /** @param what is counted: "lines read". */
  show(count: number, what: string): void;
  clear(): void;
}

interface Options {
  /** Whether to write a line a second where there is no terminal. */
  isPipedToo?: boolean;
  stream?: Pick<NodeJS.WriteStream, "isTTY" | "write">;
  /** Milliseconds on a monotonic clock. */
  now?: () => number;
}

export function showProgress({
  isPipedToo = false,
  stream = process.stderr,
  now = () => performance.now(),
}: Options = {}): Progress {
  if (!stream.isTTY && !isPipedToo) return { show() {}, clear() {} };
  const everyMilliseconds = stream.isTTY ? 100 : 1000;
  // What is done at once shows no progress.
  let shownAt = now();
  let isShown = false;
  return {
    show(count, what) {
      if (now() - shownAt < everyMilliseconds) return;
      shownAt = now();
      isShown = true;
      const text = `${count.toLocaleString("en-US")} ${what}`;
      stream.write(stream.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    },
    clear() {
      if (stream.isTTY && isShown) stream.write("\r\u001b[K");
      isShown = false;
    },
  };
}
