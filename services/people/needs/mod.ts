/**
 * What waits for somebody: one list for people, agents and programs, with who must act. Parts of the
 * program in which something can wait are its sources.
 */
export {
  MAX_NEEDS_OF_SOURCE,
  type Need,
  NEED_GROUPS,
  NEED_KINDS,
  type NeedGroup,
  type NeedKind,
  type NeedPage,
  type NeedQuery,
  Needs,
  type NeedSource,
} from "./needs.ts";
