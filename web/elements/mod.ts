/** What runs in the browser. Every page works without it, as far as reading and forms go. */
import { startBoard } from "./board.ts";
import { startChat } from "./chat.ts";
import { startCode } from "./code.ts";
import { startConfirm } from "./confirm.ts";
import { startCopy } from "./copy.ts";
import { startDiff } from "./diff.ts";
import { startFrame } from "./frame.ts";
import { startKeys } from "./keys.ts";
import { startLive } from "./live.ts";
import { startLog } from "./log.ts";
import { startNames } from "./names.ts";
import { startTimes } from "./times.ts";
import { startUpload } from "./upload.ts";

startFrame();
startKeys();
startCopy();
startConfirm();
startNames();
startTimes();
startLive();
startChat();
startBoard();
startUpload();
startCode();
startDiff();
startLog();
