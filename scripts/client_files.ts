/**
 * Writes the files of `deploy/clients` as a module, which the server serves and the executable embeds.
 * Part of `deno task reference`.
 */
import { join, relative } from "node:path";

const FOLDER = new URL("../deploy/clients/", import.meta.url).pathname;

/** The module, before it is formatted. */
export function clientFiles(): string {
  const rows = pathsIn(FOLDER).map((path) => {
    const name = relative(FOLDER, path).replaceAll("\\", "/");
    return `  ${JSON.stringify(name)}: ${JSON.stringify(Deno.readTextFileSync(path))},`;
  });
  return [
    "/** Written by `deno task reference` from deploy/clients; do not change it. */",
    "",
    "/** The files of the packages for agents' clients, by their paths; the first part is the client. */",
    "export const CLIENT_FILES: Readonly<Record<string, string>> = {",
    ...rows,
    "};",
    "",
  ].join("\n");
}

function pathsIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder)).flatMap(({ name, isDirectory }) =>
    isDirectory ? pathsIn(join(folder, name)) : [join(folder, name)]
  ).sort();
}

if (import.meta.main) {
  const place = new URL("../routes/client_files.ts", import.meta.url);
  await Deno.writeTextFile(place, clientFiles());
}
