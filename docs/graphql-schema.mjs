// Writes docs/schema.graphql: the schema of sessions, summaries, search and agents, as the built package makes it: `npm run docs:graphql`.
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { ApolloDriver } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule, GraphQLSchemaHost } from '@nestjs/graphql';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { SessionsModule } from 'nestjs-agent-sessions';
import { AgentsModule } from 'nestjs-agent-sessions/agents';
import {
  AgentsGraphqlModule,
  OpenAccess,
  SearchGraphqlModule,
  SessionsGraphqlModule,
  SummarizerGraphqlModule,
  sessionsGraphqlOptions,
} from 'nestjs-agent-sessions/graphql';
import { SearchModule } from 'nestjs-agent-sessions/search';
import { SummarizerModule } from 'nestjs-agent-sessions/summarizer';

class SchemaModule {}
Module({
  imports: [
    SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
    GraphQLModule.forRoot({ driver: ApolloDriver, ...sessionsGraphqlOptions() }),
    SummarizerModule.forRoot({ isGlobal: true }),
    SearchModule.forRoot({ isGlobal: true }),
    SessionsGraphqlModule.forRoot({ access: OpenAccess }),
    SummarizerGraphqlModule.forRoot({ access: OpenAccess }),
    SearchGraphqlModule.forRoot({ access: OpenAccess }),
    AgentsModule.forRoot({ isGlobal: true }),
    AgentsGraphqlModule.forRoot({ access: OpenAccess }),
  ],
})(SchemaModule);

const app = await NestFactory.create(SchemaModule, { logger: false });
await app.init();
const { schema } = app.get(GraphQLSchemaHost);
writeFileSync(new URL('schema.graphql', import.meta.url), `${printSchema(lexicographicSortSchema(schema))}\n`);
await app.close();
