import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../scripts/bundle.ts";
import {
  describeLicenses,
  type EmbeddedPackage,
  findPackages,
  readLicense,
} from "../../scripts/licenses/mod.ts";
import { bundledTree, programIn } from "../support/bundled_tree.ts";
import { withFolder } from "../support/temporary.ts";

/** A package with a manifest, and the text of its license if it has one. */
function makePackage(folder: string, manifest: object, text?: string): EmbeddedPackage {
  Deno.writeTextFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  if (text !== undefined) Deno.writeTextFileSync(join(folder, "LICENSE"), text);
  return { name: "left-pad", version: "1.2.3", folder };
}

Deno.test("licenses.txt names every package that the executable embeds", async () => {
  const packages = findPackages(programIn(bundledTree()));
  const names = packages.map(({ name }) => name);
  for (const name of ["@hono/zod-openapi", "hono", "lucide-static", "zod"]) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(!names.includes("puppeteer-core"), "the tests' own packages are left out");
  const written = await Deno.readTextFile(join(ROOT, "licenses.txt"));
  const isCurrent = written === describeLicenses(packages);
  assert.ok(isCurrent, 'The list is out of date: run "deno task licenses"');
});

Deno.test("the package and the text of its license come from the package's own files", async () => {
  await withFolder((folder) => {
    const found = readLicense(makePackage(folder, { license: "ISC" }, "Copyright Ann\n"));
    assert.deepEqual(found, { part: "left-pad 1.2.3", license: "ISC", text: "Copyright Ann" });
  });
});

Deno.test("a package under one of several licenses is used under the permissive one", async () => {
  await withFolder((folder) => {
    const manifest = { license: "(GPL-2.0 OR BSD-3-Clause)" };
    assert.equal(readLicense(makePackage(folder, manifest, "Text\n")).license, "BSD-3-Clause");
    assert.throws(() => readLicense(makePackage(folder, { license: "(GPL-2.0 OR GPL-3.0)" })));
  });
});

Deno.test("a package without the text of its license gets the standard text", async () => {
  await withFolder((folder) => {
    const { text } = readLicense(makePackage(folder, { license: "MIT" }));
    assert.match(text, /^MIT License\n\nCopyright \(c\) the authors of left-pad\n/);
  });
});

Deno.test("a package without a license is refused", async () => {
  await withFolder((folder) => {
    const found = makePackage(folder, {}, "All rights reserved.");
    assert.throws(() => readLicense(found), { message: "left-pad 1.2.3 names no license" });
  });
});

Deno.test("a package under a license that is not known as permissive is refused", async () => {
  await withFolder((folder) => {
    const found = makePackage(folder, { license: "GPL-3.0-only" });
    assert.throws(() => readLicense(found), {
      message: "left-pad 1.2.3 is under GPL-3.0-only, which is not known as permissive",
    });
  });
});

Deno.test("each text stands once, below the parts that share it", async () => {
  await withFolder((folder) => {
    const found = makePackage(folder, { license: "ISC" }, "Copyright Ann");
    const text = describeLicenses([found, { ...found, name: "right-pad" }]);
    assert.match(text, /^left-pad 1\.2\.3 +ISC\nright-pad 1\.2\.3 +ISC\n\n/m);
    assert.match(text, /\n=+\nleft-pad 1\.2\.3\nright-pad 1\.2\.3\n-+\nCopyright Ann\n$/);
  });
});
