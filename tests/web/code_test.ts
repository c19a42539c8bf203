import assert from "node:assert/strict";
import { commitFiles } from "../support/projects.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { fillProject, type TestWeb, withWeb } from "../support/web.ts";

/** Makes the project public, and the person a reader of it. */
async function publish({ api }: TestWeb): Promise<void> {
  await api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
}

Deno.test("the list of projects shows what a visitor may see, and finds by words", async () => {
  await withWeb(async (web) => {
    const { projects } = web.api.services.hosting;
    await projects.create({
      slug: "open",
      name: "An open one",
      description: "For everybody",
      visibility: "public",
    }, BY_OPERATOR);
    assert.doesNotMatch((await web.guest.see("/projects")).text, /Demo/);
    const list = await web.guest.see("/projects");
    assert.match(list.text, /An open one.*For everybody/);
    assert.match(list.html, /<nav class="sidebar"/, "a guest finds the way to log in");
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    assert.match((await web.person.see("/projects")).text, /An open one.*Demo|Demo.*An open one/);
    const recent = await web.person.see("/projects?sort=activity");
    assert.match(recent.text, /Demo.*An open one/);
    assert.match(recent.html, /<a class="strong" href="\/projects\/demo">.*?<time datetime=/s);
    assert.match((await web.person.see("/projects?q=DEMO")).html, /href="\/projects\/demo"/);
    assert.doesNotMatch((await web.person.see("/projects?q=demo")).html, /projects\/open"/);
    assert.match((await web.guest.see("/projects?q=none")).text, /No project matches/);
    const json = await web.api.send({ who: "guest", request: "GET /projects" });
    assert.equal((await json.json()).projects[0].slug, "open");
  });
});

Deno.test("an admin finds projects without a role there, their channel, and the way to agents", async () => {
  await withWeb(async (web) => {
    const { projects } = web.api.services.hosting;
    const listed = await web.admin.see("/projects");
    assert.match(listed.text, /Projects that you are not a member of.*Demo/);
    assert.match(listed.html, /href="\/projects\/demo\/settings\/members"/);
    assert.doesNotMatch((await web.person.see("/projects")).text, /Demo|not a member/);
    for (const nick of ["caller", "other"]) await projects.removeMember("demo", nick, BY_OPERATOR);
    await projects.setMember("demo", "admin", "admin", BY_OPERATOR);
    assert.doesNotMatch((await web.admin.see("/projects")).text, /not a member/);
    const shown = await web.admin.see("/projects/demo");
    assert.match(shown.text, /No agent works here yet/);
    assert.match(shown.html, /href="\/channels\/project-demo"/);
    await projects.setMember("demo", "caller", "write", BY_OPERATOR);
    assert.doesNotMatch((await web.admin.see("/projects/demo")).text, /No agent works here yet/);
    await publish(web);
    assert.doesNotMatch((await web.guest.see("/projects/demo")).html, /channels\/project-demo/);
  });
});

Deno.test("a private project is 404 on every page, for guests and for strangers", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    const pages = ["", "/tree/trunk", "/file/trunk/README.md", "/blame/trunk/README.md"];
    const more = ["/history/README.md", "/timeline", "/timeline.atom", "/checkin/trunk", "/tags"];
    const others = ["/compare/trunk...fix", "/branches", "/releases", "/search?q=demo"];
    for (const path of [...pages, ...more, ...others]) {
      for (const visitor of [web.guest, web.person]) {
        const { status, text } = await visitor.get(`/projects/demo${path}`);
        assert.equal(status, 404, path);
        assert.doesNotMatch(text, /Demo|A project/, path);
      }
    }
  });
});

Deno.test("the page of a project has its files, README, clone line, counts and release", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    await publish(web);
    const shown = await web.guest.see("/projects/demo");
    assert.match(shown.text, /docs.*src.*README\.md/s);
    assert.match(shown.text, /A project for tests/);
    assert.match(
      shown.text,
      /fossil clone http:\/\/muster\.test\/projects\/demo\/fossil demo\.fossil/,
    );
    assert.match(shown.html, /href="\/projects\/demo\/file\/trunk\/docs\/guide\.md"/);
    assert.match(shown.text, /Version 1\.0/);
    assert.match(shown.html, /<meta property="og:title" content="Demo"/);
    assert.match(shown.html, /rel="alternate" type="application\/atom\+xml"/);
    assert.doesNotMatch(shown.html, /badge\.svg/);
    const { checkins: [tip] } = await web.answer("GET /api/timeline?branch=trunk");
    const report = { checkin: tip.uuid, context: "ci/test", state: "failure" };
    await web.answer("POST /api/status", { body: report });
    assert.match((await web.guest.see("/projects/demo")).html, /badge\.svg/);
  });
});

Deno.test("a private project tells other sites nothing of itself", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    await web.api.services.hosting.projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const shown = await web.person.see("/projects/demo");
    assert.doesNotMatch(shown.html, /og:|name="description"/);
    assert.match(shown.text, /fossil clone http:\/\/ann@muster\.test/);
  });
});

Deno.test("a person stars a project, and takes the star back", async () => {
  await withWeb(async (web) => {
    await publish(web);
    assert.match(
      (await web.person.post("/projects/demo", { action: "star" })).text,
      /Remove your star/,
    );
    assert.match((await web.guest.see("/projects")).text, /1 star/);
    assert.match(
      (await web.person.post("/projects/demo", { action: "unstar" })).text,
      /Star \(0\)/,
    );
    assert.match(
      (await web.guest.post("/projects/demo", { action: "star" })).text,
      /Log in to muster/,
    );
  });
});

Deno.test("programs that want JSON are led to the API, browsers to the page", async () => {
  await withWeb(async (web) => {
    const { tip } = await fillProject(web);
    await publish(web);
    const cases = [
      ["", "/api/project"],
      ["/tree/trunk/src", "/api/tree?checkin=trunk&path=src"],
      ["/timeline?branch=trunk", "/api/timeline?branch=trunk"],
      [`/checkin/${tip}`, `/api/checkin/${tip}`],
      ["/branches", "/api/branches"],
    ];
    for (const [page, there] of cases) {
      const options = { headers: { accept: "application/json" }, follow: false };
      const { status, to } = await web.guest.get(`/projects/demo${page}`, options);
      assert.deepEqual([status, to], [303, `/projects/demo/fossil${there}`]);
      assert.equal((await web.guest.get(to)).status, 200, to);
    }
    const led = await web.guest.get("/projects/demo/fossil", { follow: false });
    assert.deepEqual([led.status, led.to], [303, "/projects/demo"]);
  });
});

Deno.test("folders and files are shown at any name of a check-in", async () => {
  await withWeb(async (web) => {
    const { tip } = await fillProject(web);
    await publish(web);
    const { guest } = web;
    for (const name of ["trunk", "v1.0", tip, tip.slice(0, 10), "workspace%2Ffix-typo"]) {
      const folder = await guest.see(`/projects/demo/tree/${name}/src`);
      assert.match(folder.text, /main\.ts.*util\.ts/s, name);
      assert.match(
        (await guest.see(`/projects/demo/file/${name}/src/main.ts`)).text,
        /console\.log/,
      );
    }
    assert.equal((await guest.get("/projects/demo/tree/trunk/none")).status, 404);
    assert.equal((await guest.get("/projects/demo/file/none/README.md")).status, 404);
  });
});

Deno.test("Markdown is rendered, and its source is one link away", async () => {
  await withWeb(async (web) => {
    await commitFiles(web, {
      "docs/a.md":
        "# One\n\n### Three\n\n![p](p.png) ![o](https://o.test/x.png) [b](../b.md#x) [c](#three)\n",
      "b.md": "B",
    });
    await publish(web);
    const shown = await web.guest.see("/projects/demo/file/trunk/docs/a.md");
    assert.match(shown.html, /<h2 id="doc-one">One<\/h2>/);
    assert.match(shown.html, /<h3 id="doc-three">Three<\/h3>/);
    assert.match(shown.html, /href="\/projects\/demo\/file\/trunk\/b\.md#x"/);
    assert.match(shown.html, /href="#doc-three"/);
    assert.match(
      shown.html,
      /<img src="\/projects\/demo\/fossil\/api\/file\?checkin=trunk&amp;path=docs%2Fp\.png"/,
    );
    assert.doesNotMatch(shown.html, /<img[^>]*o\.test/);
    const source = await web.guest.see("/projects/demo/file/trunk/docs/a.md?view=source");
    assert.match(source.text, /### Three/);
  });
});

Deno.test("lines have anchors, and a long file comes in parts", async () => {
  await withWeb(async (web) => {
    const text = Array.from({ length: 2500 }, (_, i) => `row ${i + 1}`).join("\n");
    await commitFiles(web, { "long.txt": text });
    await publish(web);
    const { guest } = web;
    const first = await guest.see("/projects/demo/file/trunk/long.txt");
    assert.match(first.html, /<tr id="L1000">/);
    assert.doesNotMatch(first.html, /row 1001</);
    assert.match(first.text, /Lines 1 to 1,000 of 2,500/);
    const led = await guest.get("/projects/demo/file/trunk/long.txt?line=1500", { follow: false });
    assert.equal(led.to, "/projects/demo/file/trunk/long.txt?first=1001#L1500");
    assert.match(
      (await guest.see("/projects/demo/file/trunk/long.txt?first=1001")).html,
      /id="L1500"/,
    );
  });
});

Deno.test("code is shown with its syntax, line by line", async () => {
  await withWeb(async (web) => {
    await commitFiles(web, { "a.ts": "/* one\n   two */\nconst x = '<b>';\n" });
    await publish(web);
    const { html, text } = await web.guest.see("/projects/demo/file/trunk/a.ts?wait=1");
    assert.match(html, /<span class="hljs-comment">\/\* one<\/span><\/td>/);
    assert.match(html, /<span class="hljs-comment"> {3}two \*\/<\/span><\/td>/);
    assert.match(html, /hljs-keyword">const/);
    assert.match(text, /'<b>'/);
  });
});

Deno.test("pictures are shown, other binary files are offered, and raw files never run", async () => {
  await withWeb(async (web) => {
    await commitFiles(web, {
      "a.png": Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0),
      "a.bin": Uint8Array.of(0, 1, 2),
      "a.html": "<script>hurt=1</script>",
      "a.svg": '<svg xmlns="http://www.w3.org/2000/svg" onload="hurt=1"/>',
    });
    await publish(web);
    const { guest } = web;
    const picture = await guest.see("/projects/demo/file/trunk/a.png");
    assert.match(
      picture.html,
      /<img src="\/projects\/demo\/fossil\/api\/file\?checkin=[0-9a-f]+&amp;path=a\.png"/,
    );
    assert.match((await guest.see("/projects/demo/file/trunk/a.svg")).html, /<img src=/);
    assert.match((await guest.see("/projects/demo/file/trunk/a.bin")).text, /This file is binary/);
    assert.match(
      (await guest.see("/projects/demo/file/trunk/a.html")).text,
      /<script>hurt=1<\/script>/,
    );
    for (const name of ["a.html", "a.svg"]) {
      const { headers } = await guest.get(`/projects/demo/fossil/api/file?path=${name}`);
      assert.match(headers.get("content-security-policy") ?? "", /^sandbox; default-src 'none'/);
      assert.doesNotMatch(headers.get("content-type") ?? "", /html/);
    }
  });
});

Deno.test("blame names the check-in of each line, and the history those of a file", async () => {
  await withWeb(async (web) => {
    const one = await commitFiles(web, { "a.txt": "first\n" });
    const two = await commitFiles(web, { "a.txt": "first\nsecond\n" });
    await publish(web);
    const blame = await web.guest.see("/projects/demo/blame/trunk/a.txt");
    assert.match(blame.html, new RegExp(`checkin/${one}.*first.*checkin/${two}.*second`, "s"));
    assert.match(blame.html, /<tr id="L2" class="first age-0">/);
    const history = await web.guest.see("/projects/demo/history/a.txt");
    assert.match(history.html, new RegExp(`checkin/${two}.*checkin/${one}`, "s"));
    assert.match(history.text, /2 check-ins/);
  });
});

Deno.test("the timeline has its graph, filters in the address, and every kind of event", async () => {
  await withWeb(async (web) => {
    const { tip } = await fillProject(web);
    await publish(web);
    const { guest } = web;
    const all = await guest.see("/projects/demo/timeline");
    assert.match(all.html, /<svg class="graph"/);
    assert.match(all.text, /Fix a typo/);
    assert.equal(all.html.match(/class="timeline-day/g)?.length, 1, "one day, one date");
    const trunk = await guest.see("/projects/demo/timeline?branch=trunk");
    assert.doesNotMatch(trunk.text, /Fix a typo/);
    assert.match(trunk.html, new RegExp(tip));
    assert.match((await guest.see("/projects/demo/timeline?user=caller")).text, /Fix a typo/);
    assert.match((await guest.see("/projects/demo/timeline?path=docs")).text, /Fix a typo/);
    const tickets = await guest.see("/projects/demo/timeline?type=ticket");
    assert.match(tickets.text, /New ticket [0-9a-f]{10} “The first ticket”/, "no wiki markup");
    const events = await guest.see("/projects/demo/timeline?type=all");
    assert.match(events.text, /wiki\s+New page “Home”/);
    assert.match(events.html, /href="\/projects\/demo\/wiki\/Home">New page/);
    assert.equal((await guest.get("/projects/demo/timeline?branch=none")).status, 404);
    const behind = await guest.get("/projects/demo/timeline?page=99", { follow: false });
    assert.equal(behind.to, "/projects/demo/timeline?page=1");
  });
});

Deno.test("the feed of the timeline is Atom, with the filters of the page", async () => {
  await withWeb(async (web) => {
    const { tip } = await fillProject(web);
    await publish(web);
    const feed = await web.guest.see("/projects/demo/timeline.atom?branch=trunk");
    assert.match(feed.headers.get("content-type") ?? "", /^application\/atom\+xml/);
    assert.match(feed.html, /^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed/);
    assert.match(
      feed.html,
      new RegExp(`<id>http://muster\\.test/projects/demo/checkin/${tip}</id>`),
    );
    assert.doesNotMatch(feed.html, /Fix a typo/);
  });
});

Deno.test("a check-in shows its message, its place, its checks and its changes", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    await publish(web);
    const { checkins } = await web.answer("GET /api/timeline?branch=workspace/fix-typo");
    const report = { checkin: checkins[0].uuid, context: "ci/test", state: "failure" };
    await web.answer("POST /api/status", { body: report });
    const name = "/projects/demo/checkin/workspace%2Ffix-typo";
    const shown = await web.guest.see(name);
    assert.match(shown.text, /Fix a typo.*Parents.*ci\/test.*2 changed files/s);
    assert.match(shown.html, /<del>hello<\/del>/);
    assert.match(shown.html, /<ins>hi<\/ins>/);
    assert.match((await web.guest.see(`${name}?layout=split`)).html, /diff-lines split/);
    const one = await web.guest.see(`${name}?path=docs%2Fguide.md`);
    assert.match(one.text, /1 changed file .*please/s);
    assert.doesNotMatch(one.html, /<ins>hi<\/ins>/);
  });
});

Deno.test("a check-in of 300 files comes in pages", async () => {
  await withWeb(async (web) => {
    const names = Array.from({ length: 300 }, (_, i) => `f${String(i).padStart(3, "0")}.txt`);
    const uuid = await commitFiles(
      web,
      Object.fromEntries(names.map((name) => [name, `${name}\n`])),
    );
    await publish(web);
    const first = await web.guest.see(`/projects/demo/checkin/${uuid}`);
    assert.match(first.text, /300 changed files/);
    assert.match(first.text, /f024\.txt/);
    assert.doesNotMatch(first.text, /f025\.txt/);
    assert.match((await web.guest.see(`/projects/demo/checkin/${uuid}?page=12`)).text, /f299\.txt/);
  });
});

Deno.test("any two check-ins are compared, and the form leads to their address", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    await publish(web);
    const led = await web.guest.get("/projects/demo/compare?from=trunk&to=workspace/fix-typo", {
      follow: false,
    });
    assert.equal(led.to, "/projects/demo/compare/trunk...workspace%2Ffix-typo");
    assert.match((await web.guest.see(led.to)).text, /2 changed files/);
    assert.equal((await web.guest.get("/projects/demo/compare/trunk")).status, 400);
    const form = await web.guest.see("/projects/demo/compare?from=trunk");
    assert.match(form.html, /name="from" value="trunk"/);
    assert.match(form.html, /<option value="workspace\/fix-typo">.*<option value="v1\.0">/s);
  });
});

Deno.test("branches, tags and releases are listed, and found by their names", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    await publish(web);
    const { guest } = web;
    assert.match((await guest.see("/projects/demo/branches")).text, /workspace\/fix-typo.*trunk/s);
    const found = await guest.see("/projects/demo/branches?q=fix");
    assert.doesNotMatch(found.text, /main branch/);
    assert.match((await guest.see("/projects/demo/tags")).text, /v1\.0/);
    const releases = await guest.see("/projects/demo/releases");
    assert.match(releases.text, /Version 1\.0.*first.*v1\.0\.zip/s);
    assert.match(releases.html, /<em>first<\/em>/);
  });
});

Deno.test("a search finds code, check-ins, tickets and pages, and marks the words", async () => {
  await withWeb(async (web) => {
    await fillProject(web);
    await publish(web);
    const found = await web.guest.see("/projects/demo/search?q=main");
    assert.match(found.html, /<mark>main<\/mark>/);
    const [, hit = ""] =
      /href="([^"]*\/file\/[0-9a-f]+\/src\/main\.ts\?line=1)"/.exec(found.html) ??
        [];
    assert.match((await web.guest.see(hit)).text, /Branch: trunk at [0-9a-f]{10} /);
    const tip = await web.guest.see("/projects/demo/tree/tip");
    assert.match(tip.text, /Branch: workspace\/fix-typo at [0-9a-f]{10} /);
    assert.match((await web.guest.see("/projects/demo/tree/trunk")).text, /Branch: trunk Branches/);
    assert.match(
      (await web.guest.see("/projects/demo/search?q=typo")).text,
      /Check-ins.*Fix a typo/,
    );
    assert.match((await web.guest.see("/projects/demo/search?q=ticket")).text, /The first ticket/);
    const none = await web.guest.see("/projects/demo/search?q=typ");
    assert.match(none.text, /Nothing matches\. Search for words that begin with typ/);
    assert.match(none.html, /search\?q=typ\*"/);
    assert.match((await web.guest.see("/projects/demo/search?q=typ*")).text, /Fix a typo/);
    assert.match((await web.guest.see("/projects/demo/search")).text, /Finds whole words/);
  });
});

Deno.test("robots are told what to leave alone", async () => {
  await withWeb(async ({ guest }) => {
    const { html, headers } = await guest.see("/robots.txt");
    assert.match(headers.get("content-type") ?? "", /^text\/plain/);
    assert.match(html, /User-agent: \*\nDisallow: \/projects\/\*\/blame\//);
  });
});
