/** One process of a server. */
export interface ServerProcess {
  /** What it writes is in here, until it is stopped. */
  readonly folder: string;
  /** Ends it as a power cut would; what it had written stays. */
  kill(): Promise<void>;
  /** Starts it again where it was, after `kill`. */
  restart(): Promise<void>;
}

/** A server that was started for the tests. It ends with this process at the latest. */
export interface StartedServer {
  /** As it goes into the variable of its kind. */
  readonly address: string;
  readonly processes: readonly ServerProcess[];
  /** Ends it and removes all it wrote. */
  stop(): Promise<void>;
}

/** A kind of server that tests need. */
export interface ServerKind {
  readonly name: string;
  /** The environment variable that names a server of this kind. */
  readonly variable: string;
  readonly example: string;
  /** Where such a server usually listens, and as whom anybody may log in to it. */
  readonly usualAddresses: readonly string[];
  /** Logs in, makes sure that tests may do what they do there, and tells the version. Throws otherwise. */
  check(address: string): Promise<string>;
  /** The programs that a private server needs. */
  readonly binaries: readonly string[];
  /** The package of Debian and Ubuntu that has them. */
  readonly debianPackage: string;
  /** How to start a private server with programs from these folders; undefined if they are not there. */
  starter(folders: readonly string[]): (() => Promise<StartedServer>) | undefined;
}

export const LOGIN_LIMIT_MS = 5_000;
