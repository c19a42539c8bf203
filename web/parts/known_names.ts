import type { Visit } from "../visit.ts";

/** Names that a field may be about. A person learns no more of them than the pages show anyway. */
export const knownNames = {
  agents: ({ services: { accounts } }: Visit): readonly string[] => accounts.names("agent"),

  people: ({ services: { accounts }, isAdmin }: Visit): readonly string[] =>
    isAdmin ? accounts.names("person", "admin") : [],

  accounts: (visit: Visit): readonly string[] =>
    [...knownNames.agents(visit), ...knownNames.people(visit)].sort(),

  channels: ({ services: { bridge, chats }, caller, isAdmin }: Visit): readonly string[] =>
    isAdmin ? bridge?.channels() ?? [] : chats.sidebar(caller, () => false).map(({ name }) => name),

  projects: ({ services: { hosting }, isAdmin }: Visit): readonly string[] =>
    isAdmin ? hosting.projects.all().map(({ project }) => project.slug) : [],
};

/** The words of a field, separated by commas or spaces. */
export function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
