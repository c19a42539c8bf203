/**
 * `deno task screenshots`: takes the pictures of the README from the real program. Needs Chromium
 * and Git.
 */
import { join } from "node:path";
import { TestBrowser } from "../../tests/support/browser.ts";
import { Person } from "../../tests/support/person.ts";
import { runMuster, startProgram } from "../../tests/support/program.ts";
import { ROOT } from "../bundle.ts";
import { discover, mend, prepare } from "./scenes.ts";
import { SLUG, Story } from "./story.ts";

/** Largest picture, in bytes: people load all of them with the README. */
const MAX_BYTES = 250_000;

/** Pixels of a picture for one of the page, so that text is sharp on every screen. */
const SCALE = 2;

const WIDTH = 1280;

/** The fonts that stand for those of the system. */
const FONTS = [
  ["system-ui", "Inter"],
  ["sans-serif", "Inter"],
  ["ui-monospace", "DejaVu Sans Mono"],
  ["monospace", "DejaVu Sans Mono"],
] as const;

/** What a picture shows. */
interface Picture {
  readonly name: string;
  readonly theme: "light" | "dark";
  /** In pixels of the page. */
  readonly height: number;
}

async function take({ page }: TestBrowser, { name, theme, height }: Picture): Promise<void> {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.setViewport({ width: WIDTH, height, deviceScaleFactor: SCALE });
  await page.evaluate("document.activeElement?.blur()");
  await page.mouse.move(WIDTH / 2, 0);
  const picture = await page.screenshot({ type: "webp", quality: 80 });
  if (picture.length > MAX_BYTES) {
    throw new Error(`The picture ${name} has ${picture.length} bytes, more than ${MAX_BYTES}`);
  }
  const path = join(ROOT, "docs", "images", `${name}.webp`);
  await Deno.writeFile(path, picture);
  Deno.stdout.writeSync(new TextEncoder().encode(`${path}  ${picture.length} bytes\n`));
}

/**
 * Writes a configuration of fonts, so that the pictures do not depend on the machine; returns its
 * path.
 *
 * @throws {Error} A font is missing.
 */
async function writeFonts(folder: string): Promise<string> {
  for (const font of new Set(FONTS.map(([, font]) => font))) {
    const { stdout } = await new Deno.Command("fc-match", { args: [font] }).output();
    if (new TextDecoder().decode(stdout).includes(font)) continue;
    throw new Error(`The font "${font}" is missing; apt-get install fonts-inter fonts-dejavu-core`);
  }
  const matches = FONTS.map(([family, font]) =>
    `<match><test name="family"><string>${family}</string></test>` +
    `<edit name="family" mode="prepend_first" binding="strong"><string>${font}</string></edit></match>`
  );
  const path = join(folder, "fonts.conf");
  const include = "<include>/etc/fonts/fonts.conf</include>";
  await Deno.writeTextFile(path, `<fontconfig>${include}${matches.join("")}</fontconfig>\n`);
  return path;
}

async function main(): Promise<void> {
  await using program = await startProgram();
  const run = (...args: string[]) =>
    runMuster(args, { folder: program.folder, environment: { MUSTER_URL: program.api } });
  const { stdout, stderr, code } = await run("admin", "add", "ann");
  if (code !== 0) throw new Error(stderr);
  const [password = ""] = /\b[0-9a-f]{40}\b/.exec(stdout) ?? [];
  await using story = await Story.begin(program);
  await prepare(story);
  const fonts = await writeFonts(program.folder);
  const environment = { FONTCONFIG_FILE: fonts };
  await using browser = await TestBrowser.open({ base: program.pages, environment });
  await browser.look({ width: "desk", theme: "light" });
  const ann = new Person(browser);
  await browser.logIn("ann", password);
  await browser.go(`/channels/project-${SLUG}`);
  await ann.send("Join", ".chat-head");
  await browser.go("/channels/general");
  await discover(story, ann);
  await browser.go("/");
  const review = await mend(story);
  await browser.go("/");
  await take(browser, { name: "home", theme: "light", height: 900 });
  await browser.go("/channels/general");
  await ann.say("Thank you both. I look at it now.");
  await ann.sees("I look at it now", ".messages");
  // The page notes a second later that its messages are read.
  await browser.page.waitForFunction(
    "document.querySelector('.sidebar a[aria-current=page] .count') === null",
  );
  await take(browser, { name: "chat", theme: "dark", height: 700 });
  await browser.go(`/projects/${SLUG}/reviews/${review}?view=changes`);
  await take(browser, { name: "review", theme: "light", height: 1080 });
}

await main();
