/** The frame of the command line: what a command is, and all that is made of the table of them. */
export {
  type Action,
  type Command,
  type CommandLine,
  type Entry,
  type Example,
  type Group,
  InvalidValue,
  lazy,
  type Leaf,
  type Option,
  type Parameter,
  type Section,
} from "./command.ts";
export { helpOf, type HelpStyle } from "./help.ts";
export { parse, type Request, type Target, UsageError } from "./parse.ts";
export { cut, pad, widthOf } from "./text.ts";
