import type { MigrationInterface, QueryRunner } from 'typeorm';
import { prefixedName, tablesOf } from '../tables.js';

/** The tables of the session store, as SQLite has them. Text compares byte for byte there. */
export class CreateSessionTables1763700000000 implements MigrationInterface {
  name = 'CreateSessionTables1763700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const { sessions, events, sessionState, sharedScopes, sharedState } = tablesOf(queryRunner.dataSource);
    const named = (name: string): string => prefixedName(queryRunner.dataSource, name).text;
    for (const statement of [
      `CREATE TABLE ${sessions.text} (
        "pk" integer PRIMARY KEY AUTOINCREMENT NOT NULL,
        "app_name" text NOT NULL,
        "user_id" text NOT NULL,
        "session_id" text NOT NULL,
        "create_time" integer NOT NULL,
        "last_update_time" integer NOT NULL,
        "expires_at" integer NOT NULL,
        "first_seq" integer NOT NULL,
        "last_seq" integer NOT NULL,
        "tip_seq" integer NOT NULL,
        "high_water" integer NOT NULL,
        "turns" integer NOT NULL,
        "events" integer NOT NULL,
        "content_length" integer NOT NULL,
        "tokens" integer NOT NULL,
        "hidden" text NOT NULL,
        "view_from_seq" integer NOT NULL,
        "summary_seq" integer NOT NULL,
        "marks_seq" integer NOT NULL,
        "base_state" text NOT NULL
      )`,
      `CREATE UNIQUE INDEX ${named('agent_sessions_key')} ON ${sessions.text} ("app_name", "user_id", "session_id")`,
      `CREATE INDEX ${named('agent_sessions_by_update')} ON ${sessions.text} ("app_name", "user_id", "last_update_time", "session_id")`,
      `CREATE INDEX ${named('agent_sessions_by_creation')} ON ${sessions.text} ("app_name", "user_id", "create_time", "session_id")`,
      `CREATE INDEX ${named('agent_sessions_of_app_by_update')} ON ${sessions.text} ("app_name", "last_update_time", "user_id", "session_id")`,
      `CREATE INDEX ${named('agent_sessions_of_app_by_creation')} ON ${sessions.text} ("app_name", "create_time", "user_id", "session_id")`,
      `CREATE INDEX ${named('agent_sessions_by_expiry')} ON ${sessions.text} ("expires_at")`,
      `CREATE TABLE ${events.text} (
        "session_pk" integer NOT NULL,
        "seq" integer NOT NULL,
        "event_id" text NOT NULL,
        "digest" text NOT NULL,
        "appended_at" integer NOT NULL,
        "high_water" integer NOT NULL,
        "anchor" integer NOT NULL,
        "payload" text,
        PRIMARY KEY ("session_pk", "seq"),
        CONSTRAINT ${named('agent_session_events_session')} FOREIGN KEY ("session_pk") REFERENCES ${sessions.text} ("pk") ON DELETE CASCADE
      )`,
      `CREATE UNIQUE INDEX ${named('agent_session_events_by_id')} ON ${events.text} ("session_pk", "event_id")`,
      `CREATE INDEX ${named('agent_session_events_by_time')} ON ${events.text} ("session_pk", "high_water", "seq")`,
      `CREATE INDEX ${named('agent_session_events_anchors')} ON ${events.text} ("session_pk", "seq") WHERE "anchor" = 1`,
      `CREATE TABLE ${sessionState.text} (
        "session_pk" integer NOT NULL,
        "name" text NOT NULL,
        "value" text NOT NULL,
        PRIMARY KEY ("session_pk", "name"),
        CONSTRAINT ${named('agent_session_state_session')} FOREIGN KEY ("session_pk") REFERENCES ${sessions.text} ("pk") ON DELETE CASCADE
      )`,
      `CREATE TABLE ${sharedScopes.text} (
        "pk" integer PRIMARY KEY AUTOINCREMENT NOT NULL,
        "app_name" text NOT NULL,
        "user_id" text NOT NULL,
        "expires_at" integer NOT NULL
      )`,
      `CREATE UNIQUE INDEX ${named('agent_shared_scopes_key')} ON ${sharedScopes.text} ("app_name", "user_id")`,
      `CREATE INDEX ${named('agent_shared_scopes_by_expiry')} ON ${sharedScopes.text} ("expires_at")`,
      `CREATE TABLE ${sharedState.text} (
        "scope_pk" integer NOT NULL,
        "name" text NOT NULL,
        "value" text NOT NULL,
        PRIMARY KEY ("scope_pk", "name"),
        CONSTRAINT ${named('agent_shared_state_scope')} FOREIGN KEY ("scope_pk") REFERENCES ${sharedScopes.text} ("pk") ON DELETE CASCADE
      )`,
    ]) {
      await queryRunner.query(statement);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const { sessions, events, sessionState, sharedScopes, sharedState } = tablesOf(queryRunner.dataSource);
    for (const table of [sharedState, sharedScopes, sessionState, events, sessions]) {
      await queryRunner.query(`DROP TABLE ${table.text}`);
    }
  }
}
