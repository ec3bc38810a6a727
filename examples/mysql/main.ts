// Sessions in MySQL or MariaDB, and the rows that one conversation leaves there. MYSQL_URL says where the server is;
// its user may create databases.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type RowDataPacket, createConnection } from 'mysql2/promise';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';

const address = new URL(process.env['MYSQL_URL'] ?? 'mysql://root@127.0.0.1:3306');
const driverOptions = Object.fromEntries(address.searchParams);
const name = `agent_sessions_example_${randomUUID().replaceAll('-', '')}`;
const server = await createConnection(address.href);
await server.query(`CREATE DATABASE ${name}`);
address.search = '';
address.pathname = name;

@Module({
  imports: [SessionsModule.forRoot({ provider: 'typeorm', database: { url: address.href, driverOptions } })],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const session = await sessions.createSession({
  appName: 'shop',
  userId: 'ann',
  sessionId: 'order-7',
  state: { step: 1, 'user:language': 'en', 'app:currency': 'EUR' },
});
await sessions.appendEvent({ session, event: { id: 'e-1', author: 'user', actions: { stateDelta: { step: 2 } } } });
await app.close();

// The same that a SQL client shows.
await server.query(`USE ${name}`);
for (const sql of [
  'SELECT app_name, user_id, session_id, last_seq FROM agent_sessions',
  'SELECT seq, event_id FROM agent_session_events',
  'SELECT state FROM agent_sessions',
  'SELECT user_id, name, value FROM agent_shared_state JOIN agent_shared_scopes ON pk = scope_pk ORDER BY name',
]) {
  const [rows] = await server.query<RowDataPacket[]>({ sql, typeCast: (field) => field.string('utf8') });
  console.log(`${sql}\n ${rows.map((row) => Object.values(row).join(' | ')).join('\n ')}`);
}

await server.query(`DROP DATABASE ${name}`);
await server.end();
