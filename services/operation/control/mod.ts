/**
 * What an operator does with a running program: pauses for backups, the level of the log,
 * examinations, and halts from IRC.
 */
export { type ChangePause, ChangePauses, type ChangePausesOptions } from "./change_pauses.ts";
export { type CommandReply, HaltCommands, type SpokenCommand } from "./halt_commands.ts";
export { LogLevels, type LogLevelsOptions } from "./log_level.ts";
export {
  type Examination,
  type ExaminationProcess,
  SelfExamination,
  type SelfExaminationOptions,
  type StartExamination,
} from "./self_examination.ts";
