/** Makes lib/, the program as an installed package has it: Node runs no TypeScript below a folder named node_modules. */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dirname, "..");
const [source, target] = [join(root, "src"), join(root, "lib")];

/** An import, or the address of a worker. */
const specifiers = /(\bfrom |\bimport |\bimport\(|\bnew URL\()"([#.][^"]*)\.ts"/g;

/** What was `#module/file.ts` or `./file.ts` is a path to a file of lib/. */
const readdressed = (path: string, text: string) =>
  text.replaceAll(specifiers, (_, before: string, specifier: string) => {
    if (!specifier.startsWith("#")) return `${before}"${specifier}.js"`;
    const way = relative(dirname(path), specifier.slice(1)).replaceAll("\\", "/");
    return `${before}"${way.startsWith(".") ? way : `./${way}`}.js"`;
  });

rmSync(target, { recursive: true, force: true });
const tsc = join(root, "node_modules", ".bin", "tsc");
execFileSync(tsc, ["--project", join(import.meta.dirname, "tsconfig.json")], { stdio: "inherit" });
for (const path of globSync("**/*.d.ts", { cwd: target }))
  writeFileSync(join(target, path), readdressed(path, readFileSync(join(target, path), "utf8")));
for (const path of globSync("**/*.*", { cwd: source })) {
  mkdirSync(join(target, dirname(path)), { recursive: true });
  if (!path.endsWith(".ts")) cpSync(join(source, path), join(target, path));
  else {
    const text = stripTypeScriptTypes(readFileSync(join(source, path), "utf8"));
    writeFileSync(join(target, path.replace(/\.ts$/, ".js")), readdressed(path, text));
  }
}
