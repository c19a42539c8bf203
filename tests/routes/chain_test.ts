import assert from "node:assert/strict";
import { type Handler, Hono } from "hono";
import type { AppEnv } from "../../routes/environment.ts";
import { inOneTask } from "../../routes/group.ts";

/** What a handler may do, by a letter. Each notes when it begins and ends. */
function handlers(notes: string[]): Readonly<Record<string, Handler<AppEnv>>> {
  const noted = (name: string, handler: Handler<AppEnv>): Handler<AppEnv> => (context, next) => {
    notes.push(`${name} begins`);
    return handler(context, async () => {
      await next();
      notes.push(`${name} goes on`);
    });
  };
  return {
    p: noted("pass", (_context, next) => next()),
    w: noted("wait", async (_context, next) => {
      await Promise.resolve();
      await next();
    }),
    h: noted("header", async (context, next) => {
      await next();
      context.res.headers.append("X-Seen", String(context.res.status));
    }),
    r: noted("replace", async (context, next) => {
      await next();
      context.res = new Response("replaced", { status: 203 });
    }),
    a: noted("answer", (context) => context.text("answered", 201)),
    l: noted("answer later", (context) => Promise.resolve(context.text("later", 202))),
    t: noted("throw", () => {
      throw new Error("thrown");
    }),
    j: noted("reject", () => Promise.reject(new Error("rejected"))),
  };
}

/** Every sequence of up to three handlers. */
function* sequences(letters: string): Generator<string> {
  for (const one of letters) {
    yield one;
    for (const two of letters) {
      yield one + two;
      for (const three of letters) yield one + two + three;
    }
  }
}

async function outcome(names: string, isChained: boolean) {
  const notes: string[] = [];
  const all = handlers(notes);
  const wanted = [...names].map((name) => all[name] as Handler<AppEnv>);
  const app = new Hono<AppEnv>();
  app.use(async (context, next) => {
    await next();
    notes.push(`outside ${context.res.status}`);
  });
  if (isChained) app.use(inOneTask(...wanted));
  else for (const handler of wanted) app.use(handler);
  app.get("/", (context) => {
    notes.push("end");
    return context.text("end");
  });
  app.onError((error, context) => context.text(error.message, 500));
  const response = await app.request("/");
  const { status } = response;
  return { status, seen: response.headers.get("X-Seen"), text: await response.text(), notes };
}

Deno.test("handlers in one task cannot be told from handlers of their own", async () => {
  for (const names of sequences("pwhral")) {
    assert.deepEqual(await outcome(names, true), await outcome(names, false), names);
  }
});

Deno.test("an error of a handler in one task gets the same answer as any other", async () => {
  for (const names of sequences("pwtj")) {
    const { status, text } = await outcome(names, true);
    const { status: other, text: otherText } = await outcome(names, false);
    assert.deepEqual([status, text], [other, otherText], names);
  }
});
