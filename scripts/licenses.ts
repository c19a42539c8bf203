/** `deno task licenses`: writes licenses.txt, which `muster licenses` prints. */
import { join } from "node:path";
import { bundleProgram, ROOT } from "./bundle.ts";
import { describeLicenses, findPackages } from "./licenses/mod.ts";

const folder = await Deno.makeTempDir({ prefix: "muster-licenses-" });
try {
  bundleProgram(folder);
  await Deno.writeTextFile(join(ROOT, "licenses.txt"), describeLicenses(findPackages(folder)));
} finally {
  await Deno.remove(folder, { recursive: true });
}
