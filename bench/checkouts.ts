/** What is measured: this checkout and, if asked, another commit of the same repository. */
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { whenDone } from "./clean-up.ts";
import { OptionFault } from "./options.ts";

export interface Checkout {
  name: string;
  root: string;
}

const ownRoot = join(import.meta.dirname, "..");

export const ownCheckout: Checkout = { name: "this checkout", root: ownRoot };

const git = (...args: readonly string[]) =>
  execFileSync("git", ["-C", ownRoot, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

/**
 * Another commit as a work tree inside `folder`, with the packages installed here: what differs is the program.
 * @throws OptionFault where git does not know the commit.
 */
export function checkOut(ref: string, folder: string): Checkout {
  let commit;
  try {
    commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`);
  } catch {
    throw new OptionFault(`--compare needs a commit, but git knows no '${ref}' in ${ownRoot}.`);
  }
  const root = join(folder, "compared");
  git("worktree", "add", "--detach", "--quiet", root, commit);
  whenDone(() => void git("worktree", "remove", "--force", root));
  symlinkSync(join(ownRoot, "node_modules"), join(root, "node_modules"));
  return { name: ref, root };
}

/** Short id of the commit that is checked out, marked where files differ from it. */
export function ownCommit(): string {
  try {
    return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain") === "" ? "" : " and changes"}`;
  } catch {
    return "no commit";
  }
}
