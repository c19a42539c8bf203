/** A hostile pusher of unversioned files, of dangerous file names, and of malformed artifacts. */
import { type Card, encodeUtf8, sha3 } from "../../../../services/engines/fossil/mod.ts";
import {
  type Attempt,
  fileOf,
  hashOf,
  hostile,
  type HostileScene,
  lineOf,
  sealed,
  starting,
} from "../../../support/hostile_pusher.ts";

const CONTENT = encodeUtf8("content\n".repeat(20));
const ONE = sha3("one");

hostile("hostile pushes: unversioned files", (scene) => {
  const uv = (name: string, more: Partial<Card & { kind: "uvfile" }> = {}): Card => ({
    kind: "uvfile",
    name,
    time: Math.floor(scene.now / 1000),
    hash: sha3(CONTENT),
    size: CONTENT.length,
    content: CONTENT,
    ...more,
  });
  const named = (name: string, refusal = /name/): Attempt => (
    { name: `file ${name}`, refusal, cards: [uv(name)] }
  );
  return [
    named("../../etc/passwd"),
    named("/etc/passwd"),
    named("a//b"),
    named("a/./b"),
    named(".."),
    named("a\\..\\b"),
    named("_FOSSIL_"),
    named("x".repeat(1100)),
    named("releases/v9/app.zip", /there is no release of this name/),
    { name: "wrong hash", refusal: /HASH does not match/, cards: [uv("a", { hash: ONE })] },
    {
      name: "wrong size",
      refusal: /./,
      raw: lineOf(scene, `uvfile a 1 ${sha3(CONTENT)} 999999 0\nx`),
    },
    {
      name: "the future",
      refusal: /a date in the future/,
      cards: [uv("a", { time: 99_999_999_999 })],
    },
    {
      name: "no content",
      refusal: /content .* is missing/,
      cards: [
        uv("a", { content: null }),
      ],
    },
    {
      name: "removal of nothing",
      refusal: null,
      cards: [
        uv("a", { hash: null, content: null, size: 0 }),
      ],
    },
  ];
});

hostile("hostile pushes: files and malformed artifacts", (scene) => {
  const { feature } = scene;
  const file = (name: string, hash = sha3(CONTENT)) => (
    { name, hash, mode: "file", oldName: null } as const
  );
  const artifact = scene.checkin(feature, { comment: "as a file" });
  const asFile = fileOf(artifact);
  const hash = asFile.kind === "file" ? asFile.hash : "";
  const holder = scene.checkin(feature, { files: [file("a", hash)], date: scene.now + 5 });
  const folder = scene.checkin(feature, { files: [file("a"), file("a/b")] });
  const cards = (more: string) => `C x\nD 2026-01-01T00:00:00\n${more}P ${feature}\nU caller\n`;
  return [
    {
      name: "an artifact as a file",
      refusal: /is a valid artifact of Fossil itself/,
      refused: hashOf(holder),
      cards: [asFile, fileOf(holder)],
    },
    {
      name: "a file that is a folder",
      refusal: /is a file and a folder at once/,
      refused: hashOf(folder),
      cards: [fileOf(CONTENT), fileOf(folder)],
    },
    {
      name: "a folder of Git",
      refusal: /that Git takes for its own/,
      cards: [
        fileOf(CONTENT),
        fileOf(scene.checkin(feature, { files: [file(".git/hooks/post-checkout")] })),
      ],
    },
    {
      name: "a device of Windows",
      refusal: /the name of a device on Windows/,
      cards: [fileOf(CONTENT), fileOf(scene.checkin(feature, { files: [file("NUL.txt")] }))],
    },
    {
      name: "a long name",
      refusal: /name that is too long/,
      cards: [
        fileOf(CONTENT),
        fileOf(scene.checkin(feature, { files: [file("x".repeat(1001))] })),
      ],
    },
    {
      name: "a name outside",
      refusal: /is malformed/,
      cards: [
        fileOf(sealed(cards(`F ../x ${sha3(CONTENT)}\n`))),
      ],
    },
    {
      name: "an unknown card",
      refusal: /is malformed/,
      cards: [
        fileOf(sealed(`${cards("")}Y new\n`)),
      ],
    },
    {
      name: "cards twice",
      refusal: /is malformed/,
      cards: [
        fileOf(sealed(cards("D 2026-01-02T00:00:00\n"))),
      ],
    },
    {
      name: "invalid UTF-8 in a name",
      refusal: /name that is not allowed/,
      cards: [
        fileOf(CONTENT),
        fileOf(invalidName(feature, scene)),
      ],
    },
    {
      name: "a delta manifest without its baseline, then it",
      refusal: /names the user/,
      cards: [
        fileOf(scene.checkin(feature, { baseline: ONE, user: "other" })),
      ],
    },
    {
      name: "a branch without a name",
      refusal: /its name of a tag must not be empty/,
      cards: [
        fileOf(scene.checkin(feature, { tags: starting("", "feature") })),
      ],
    },
  ];
});

/** A check-in with the file name `a`, 0xFF. */
function invalidName(parent: string, scene: HostileScene): Uint8Array {
  const date = new Date(scene.now).toISOString().slice(0, 19);
  const text = `C x\nD ${date}\nF a\u00ff ${sha3(CONTENT)}\nP ${parent}\nU caller\n`;
  return sealed(text);
}
