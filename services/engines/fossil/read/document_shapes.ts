/** Shapes of wiki pages, tickets, technotes, forum posts and attachments; see `shapes.ts`. */

export interface WikiPageRef {
  readonly name: string;
  readonly uuid: string;
  readonly last_modified: string;
  readonly user: string;
  readonly is_deleted: boolean;
}

export interface WikiPage extends WikiPageRef {
  readonly mimetype: string;
  readonly content: string;
}

export interface WikiVersion {
  readonly uuid: string;
  readonly timestamp: string;
  readonly user: string;
  /** Bytes of the text; 0 for a deletion. */
  readonly size: number;
}

/** A ticket for which another one waits. */
export interface Blocker {
  readonly uuid: string;
  readonly is_closed: boolean;
}

export interface TicketRef {
  readonly uuid: string;
  readonly title: string;
  readonly status: string;
  readonly type: string;
  readonly subsystem: string;
  readonly priority: string;
  readonly severity: string;
  /** Who is to do it: the name of an account; empty for nobody. */
  readonly assignee: string;
  readonly labels: readonly string[];
  /** The tickets for which it waits until each is closed. */
  readonly blocked_by: readonly Blocker[];
  /** Whether it is open and one of them is. */
  readonly is_blocked: boolean;
  readonly created: string;
  readonly last_modified: string;
}

/** How many tickets have a status. */
export interface TicketStatusCount {
  readonly name: string;
  readonly count: number;
  /** Whether the status closes a ticket, by the repository's own words. */
  readonly is_closed: boolean;
}

/** A page of tickets. */
export interface TicketList {
  readonly tickets: readonly TicketRef[];
  readonly total: number;
  /** The statuses of the tickets that match every condition but the one on the status. */
  readonly statuses: readonly TicketStatusCount[];
}

export interface TicketComment {
  readonly uuid: string;
  readonly timestamp: string;
  readonly user: string;
  readonly comment: string;
  readonly mimetype: string;
}

export interface TicketChangeEntry {
  readonly uuid: string;
  readonly timestamp: string;
  readonly user: string;
  readonly fields: readonly {
    readonly name: string;
    readonly value: string;
    readonly append: boolean;
  }[];
}

/** What differs between two versions of a wiki page. */
export interface WikiDiff {
  readonly name: string;
  /** The older version; null if `to` is the first one. */
  readonly from: string | null;
  readonly to: string;
  /** Lines. */
  readonly added: number;
  readonly deleted: number;
  /** Hunks of a unified diff; empty if nothing differs. */
  readonly diff: string;
}

/** Changes of a ticket, newest first. */
export interface TicketChangeList {
  /** The whole id of the ticket. */
  readonly ticket: string;
  readonly changes: readonly {
    readonly uuid: string;
    readonly timestamp: string;
    readonly user: string;
    readonly fields: readonly {
      readonly name: string;
      /** The new value, or the text that was appended. */
      readonly value: string;
      readonly append: boolean;
      readonly previous: string;
    }[];
  }[];
  readonly total: number;
}

export interface Ticket extends TicketRef {
  readonly resolution: string;
  readonly body: string;
  /** Every field that the repository's tickets have, as text. */
  readonly fields: Readonly<Record<string, string>>;
  /** Oldest first. */
  readonly comments: readonly TicketComment[];
  readonly changes: readonly TicketChangeEntry[];
}

/** A technote in one line. */
export interface TechnoteRef {
  /** 40 or 64 digits that all its versions share. */
  readonly id: string;
  /** Hash of the version. */
  readonly uuid: string;
  /** Its time in the timeline. */
  readonly timestamp: string;
  readonly last_modified: string;
  readonly user: string;
  readonly comment: string;
  /** Background in the timeline; null for the usual one. */
  readonly color: string | null;
  /** Symbolic tags. */
  readonly tags: readonly string[];
}

/** A page of technotes. */
export interface TechnoteList {
  readonly technotes: readonly TechnoteRef[];
  readonly total: number;
}

export interface TechnoteVersion {
  readonly uuid: string;
  readonly timestamp: string;
  readonly user: string;
}

export interface TechnotePage extends TechnoteRef {
  readonly mimetype: string;
  readonly content: string;
  /** Newest first. */
  readonly versions: readonly TechnoteVersion[];
}

/** A thread of the forum in one line. */
export interface ForumThreadRef {
  /** Hash of the first version of its first post. */
  readonly uuid: string;
  readonly title: string;
  readonly user: string;
  readonly created: string;
  readonly last_modified: string;
  readonly post_count: number;
}

/** A page of threads. */
export interface ForumThreadList {
  readonly threads: readonly ForumThreadRef[];
  readonly total: number;
}

/** A post at its latest version. */
export interface ForumThreadPost {
  /** Hash of its first version, which identifies it. */
  readonly uuid: string;
  readonly latest_uuid: string;
  readonly timestamp: string;
  readonly last_modified: string;
  readonly user: string;
  /** The post that it answers; null for the first of a thread. */
  readonly in_reply_to: string | null;
  readonly mimetype: string;
  readonly content: string;
  readonly is_deleted: boolean;
  readonly version_count: number;
}

/** A post, with what it is part of. */
export interface ForumPostInThread extends ForumThreadPost {
  /** Hash of the first version of the thread's first post. */
  readonly thread: string;
  /** The title of the thread. */
  readonly title: string;
}

export interface ForumThread extends ForumThreadRef {
  /** Those that were asked for, oldest first. */
  readonly posts: readonly ForumThreadPost[];
  /** How many that would be on all pages. */
  readonly total: number;
}

/** An attachment in one line. */
export interface AttachmentRef {
  /** Hash of the artifact that attaches the file. */
  readonly uuid: string;
  readonly name: string;
  readonly file_uuid: string;
  /** Bytes of the file; null if it is missing. */
  readonly size: number | null;
  readonly timestamp: string;
  readonly user: string;
  readonly comment: string;
}

export interface AttachmentContent extends AttachmentRef {
  readonly is_binary: boolean;
  readonly content: Uint8Array;
}
