/** `muster irc`: the IRC server, for those who watch over it. */
import type { Command } from "commander";
import { checkDuration, optionsOf, urlOption } from "./options.ts";

/** Adds the command and everything below it. */
export function addIrc(program: Command): void {
  const irc = program.command("irc").description("watch over the IRC server");
  irc.command("clients")
    .description("list who is connected")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./irc.ts")).listClients(optionsOf(command));
    });
  irc.command("ban <mask>")
    .description(
      "keep somebody off: user@host, nick!user@host, an address, a network such as 192.0.2.0/24, " +
        "or account:name; its sessions end at once",
    )
    .option("--reason <text>", "what whoever is banned is told")
    .option("--for <time>", "such as 30m, 12h or 7d (default: until unban)", checkDuration)
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (mask: string, _, command: Command) => {
      await (await import("./irc.ts")).ban(mask, optionsOf(command));
    });
  irc.command("unban <mask>")
    .description("take a ban away, by its mask or its id")
    .addOption(urlOption())
    .action(async (mask: string, _, command: Command) => {
      await (await import("./irc.ts")).unban(mask, optionsOf(command));
    });
  irc.command("list")
    .description("list the bans")
    .option("--json", "print JSON")
    .addOption(urlOption())
    .action(async (_, command: Command) => {
      await (await import("./irc.ts")).listBans(optionsOf(command));
    });
}
