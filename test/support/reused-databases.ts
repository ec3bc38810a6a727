import { randomBytes } from 'node:crypto';

/** A unique name. */
export function newDatabaseName(): string {
  return `agent_sessions_test_${randomBytes(6).toString('hex')}`;
}

/** How to create, clear and drop databases of one server. */
export interface DatabaseMaker<Database> {
  create(name: string): Promise<Database>;
  /** Removes all rows, which is much faster than creating tables. */
  empty(database: Database): Promise<void>;
  drop(database: Database): Promise<void>;
}

/** The databases of one spec: created when needed, reused, and dropped at the end. */
export class ReusedDatabases<Database> {
  readonly #all: Database[] = [];
  readonly #free: Database[] = [];

  constructor(private readonly maker: DatabaseMaker<Database>) {}

  async take(): Promise<Database> {
    const free = this.#free.pop();
    if (free) return free;
    const made = await this.maker.create(newDatabaseName());
    this.#all.push(made);
    return made;
  }

  async giveBack(database: Database): Promise<void> {
    await this.maker.empty(database);
    this.#free.push(database);
  }

  async drop(): Promise<void> {
    await Promise.all(this.#all.splice(0).map((database) => this.maker.drop(database)));
  }
}
