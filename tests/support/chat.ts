/** The pages of channels beside an IRC server, with people on both. */
import assert from "node:assert/strict";
import { type Bridge } from "../../services/chat/bridge/mod.ts";
import { IrcUser, type IrcUserOptions } from "../services/chat/bridge/support.ts";
import type { TestServicesOptions } from "./services.ts";
import { type TestWeb, withWeb } from "./web.ts";

/** The pages, the bridge and its IRC server. */
export interface TestChat extends TestWeb {
  readonly bridge: Bridge;
  /** Connects somebody with an IRC client, and waits for the end of the greeting. */
  connect(nick: string, options?: IrcUserOptions): Promise<IrcUser>;
}

/** Runs a test on the pages, with `#general` on an IRC server in memory. */
export async function withChat(
  run: (chat: TestChat) => Promise<void>,
  { config = {}, ...options }: TestServicesOptions = {},
): Promise<void> {
  await withWeb(async (web) => {
    const { bridge, server } = web.api.services;
    assert.ok(bridge !== null);
    await bridge.whenReady();
    const connect = async (nick: string, more?: IrcUserOptions) => {
      const user = new IrcUser(server, nick, more);
      await user.expect(/ (376|422) /);
      return user;
    };
    await run({ ...web, bridge, connect });
  }, {
    ...options,
    ircServer: true,
    config: {
      ...config,
      bridge: { enabled: true, channels: ["general"], ...config["bridge"] },
    },
  });
}

/** The messages of a page, as `nick: text`, without the template of one. */
export function messagesOf(html: string): string[] {
  const messages = html.matchAll(
    /<li class="message[^"]*" id="m-[^"]+".*?data-nick="([^"]*)".*?<\/li>/gs,
  );
  return Array.from(messages, ([item, nick]) => {
    const [, text = ""] = /<div class="text" dir="auto">(.*)<\/div><a class="answer"/s.exec(item) ??
      [];
    return `${nick}: ${text.replace(/<[^>]*>/g, "")}`;
  });
}
