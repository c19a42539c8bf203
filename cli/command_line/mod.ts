/** The command line's framework: definitions, parsing and help. */
export {
  type Action,
  type Command,
  type CommandLine,
  type Completes,
  type Example,
  flagsOf,
  type Group,
  InvalidValue,
  isGroup,
  lazy,
  type Leaf,
  type Option,
  type Parameter,
  placeOf,
  type Section,
  type TopLevelCommand,
} from "./command.ts";
export { choicesOf, helpOf, type HelpStyle, optionRow, usageOf } from "./help.ts";
export {
  HELP_OPTION,
  parse,
  type Request,
  type Target,
  UsageError,
  VERSION_OPTION,
} from "./parse.ts";
export { cut, pad, widthOf } from "./text.ts";
