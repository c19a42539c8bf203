/** In Chromium: filling a project from a URL, and following one. */
import assert from "node:assert/strict";
import { order } from "../support/api.ts";
import { TestBrowser } from "../support/browser.ts";
import { GitClient } from "../support/git_client.ts";
import { PLAIN, streamOf } from "../support/odd_history.ts";
import { peer } from "../support/peers.ts";
import { Person } from "../support/person.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { GitServer } from "../services/work/mirrors/git_server.ts";

const IMPORT = "[data-live-part=import]";
const MIRROR = "[data-live-part=mirror]";

/** Fields of the form of a mirror have the same labels in each part. */
const FOLLOWED = "fieldset:has([name=pull-url])";

Deno.test({
  name: "a person imports from a URL, cancels, gives a password, and lets the project follow it",
  ignore: peer("chromium").ignore || peer("git").ignore,
  async fn() {
    using client = new GitClient();
    await using upstream = await GitServer.start(client.folder);
    const args = ["-C", upstream.folder, "fast-import", "--quiet", "--date-format=raw-permissive"];
    await client.git(args, undefined, streamOf(...PLAIN));
    await using program = await startProgram({
      environment: { MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" },
    });
    await order(program, "POST /v1/projects", { slug: "demo" });
    const { stdout } = await runMuster(["admin", "passwd", "admin"], { folder: program.folder });
    const [password = ""] = /\S{20,}/.exec(stdout) ?? [];
    await using browser = await TestBrowser.open({ base: program.pages });
    await browser.look({ width: "desk", theme: "light" });
    const person = new Person(browser);
    await browser.logIn("admin", password);
    await browser.go("/projects/demo/settings/repository");

    // Without the password.
    upstream.require("bot", "s3cret-word");
    await person.fill("URL", upstream.url);
    await person.send("Import from the URL");
    await person.sees("asks for a user and a password", IMPORT);
    // The form is still there, and keeps no password.
    upstream.stalls = true;
    const fillIn = async () => {
      await person.fill("URL", upstream.url);
      await person.fill("User (optional)", "bot");
      await person.fill("Password or token (optional)", "s3cret-word");
      await person.send("Import from the URL");
    };
    await fillIn();
    await person.sees("receives bytes:", IMPORT);
    assert.doesNotMatch(await browser.page.content(), /s3cret-word/);
    assert.deepEqual(await browser.violations(), []);
    await person.send("Cancel", IMPORT);
    await person.sees("cancelled", IMPORT);
    upstream.stalls = false;
    await fillIn();
    await person.sees("done", IMPORT);
    await person.sees("13 check-ins", IMPORT);
    await person.sees("An import fills an empty repository, and this one has something in it");
    assert.doesNotMatch(await browser.page.content(), /s3cret-word/);

    // An admin of the project lets it follow the repository from now on.
    await order(program, "PUT /v1/projects/demo/members/admin", { role: "admin" });
    await browser.go("/projects/demo/settings/mirror");
    await person.fill("URL", upstream.url, FOLLOWED);
    await person.fill("User", "bot", FOLLOWED);
    await person.fill("Password or token", "wr0ng-word", FOLLOWED);
    await person.send("Start the mirror");
    await person.sees("failed once", MIRROR);
    await person.sees("refuses the user or the password", MIRROR);
    await person.fill("Password or token", "s3cret-word", FOLLOWED);
    await person.send("Save");
    await person.sees("up to date", MIRROR);
    assert.doesNotMatch(await browser.page.content(), /(?:s3cret|wr0ng)-word/);
    await person.sees("It stays if you leave this empty", FOLLOWED);
    assert.deepEqual(await browser.violations(), []);
    // A new password of upstream makes it fail; the old one stays where it is.
    upstream.require("bot", "another-word");
    await person.send("Run it now", MIRROR);
    await person.sees("failed once", MIRROR);
    await person.press("End the mirror", MIRROR);
    await person.send("End it");
    await person.sees("This project is not mirrored");
    assert.deepEqual(browser.complaints, []);
  },
});
