/** `muster project member`: members of projects, and their roles. */
import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printJson, table } from "./output.ts";
import { memberSchema, pathOf, SLUG } from "./project_calls.ts";

/** `muster project member add`. */
async function addMember(slug: string, name: string, role: string, options: CommandOptions) {
  const client = await ApiClient.connect(options);
  const path = `${pathOf(slug)}/members/${encodeURIComponent(name)}`;
  await client.call("PUT", path, memberSchema, { role });
}

/** `muster project member list`. */
async function listMembers(slug: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const members = await client.call("GET", `${pathOf(slug)}/members`, z.array(memberSchema));
  if (options.json === true) return printJson(members);
  const rows = members.map(({ name, kind, role }) => [name, kind, role]);
  print(table(["NAME", "KIND", "ROLE"], rows));
}

/** `muster project member remove`. */
async function removeMember(slug: string, name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = `${pathOf(slug)}/members/${encodeURIComponent(name)}`;
  await client.call("DELETE", path, z.undefined());
}

/** The commands of `muster project member`. */
export const MEMBER: Group = {
  commands: [
    {
      name: "add",
      aliases: ["set"],
      summary: "set the role of an account in a project",
      parameters: [SLUG, { usage: "<account>" }, {
        usage: "<role>",
        choices: ["read", "write", "admin"],
      }],
      options: [URL_OPTION],
      run: addMember,
    },
    {
      name: "list",
      summary: "list a project's members",
      parameters: [SLUG],
      options: [JSON_OPTION, URL_OPTION],
      run: listMembers,
    },
    {
      name: "remove",
      aliases: ["delete"],
      summary: "remove a member from a project",
      parameters: [SLUG, { usage: "<account>" }],
      options: [URL_OPTION],
      run: removeMember,
    },
  ],
};
