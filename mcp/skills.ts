/**
 * Skills (extension `io.modelcontextprotocol/skills`, SEP-2640): how to work on muster, as the
 * packages for agents' clients have it.
 */
import type { ReadResourceResult } from "@modelcontextprotocol/server";
import { CLIENT_FILES } from "../routes/client_files.ts";
import { Invalid, NotFound } from "../services/kernel/errors.ts";
import { sha256 } from "../services/people/identity/mod.ts";

/** The extension, in the capabilities of the server. */
export const SKILLS = "io.modelcontextprotocol/skills";

/** The package whose commands are skills too. */
const FOLDER = "codex/plugins/muster/skills/";

const BASE = "skill://muster/";

/** A skill as the protocol has it. */
interface Skill {
  readonly uri: string;
  readonly frontmatter: { readonly name: string; readonly description: string };
  readonly resources: { readonly uri: string; readonly digest: string; readonly size: number }[];
}

/** Whether a URI is that of a file of a skill. */
export function isOfSkill(uri: string): boolean {
  return uri.startsWith("skill://");
}

/** All skills. */
export function listSkills(): { skills: Skill[] } {
  return { skills: Object.keys(CLIENT_FILES).filter(isSkill).map(skillOf) };
}

/** @throws Invalid if there is no such skill */
export function getSkill(uri: string): { skill: Skill } {
  const path = pathOf(uri);
  if (path === null) throw new Invalid("There is no such skill; skills/list names all");
  return { skill: skillOf(path) };
}

/** @throws NotFound if no file of a skill has such a URI */
export function readSkill(uri: string): ReadResourceResult {
  const path = pathOf(uri);
  if (path === null) throw new NotFound("There is no such skill; skills/list names all");
  return { contents: [{ uri, mimeType: "text/markdown", text: textAt(path) }] };
}

function isSkill(path: string): boolean {
  return path.startsWith(FOLDER) && path.endsWith("/SKILL.md");
}

function pathOf(uri: string): string | null {
  if (!uri.startsWith(BASE)) return null;
  const path = FOLDER + uri.slice(BASE.length);
  return isSkill(path) && Object.hasOwn(CLIENT_FILES, path) ? path : null;
}

function textAt(path: string): string {
  return CLIENT_FILES[path] ?? "";
}

function skillOf(path: string): Skill {
  const text = textAt(path);
  const uri = BASE + path.slice(FOLDER.length);
  const [, name = "", description = ""] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(text) ??
    [];
  const size = new TextEncoder().encode(text).length;
  const resources = [{ uri, digest: `sha256:${sha256(text)}`, size }];
  return { uri, frontmatter: { name, description }, resources };
}
