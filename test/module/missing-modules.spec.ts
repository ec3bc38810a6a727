import type { DynamicModule } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AgentsModule } from '../../src/agents/index.js';
import { AgentsGraphqlModule, SearchGraphqlModule, SummarizerGraphqlModule } from '../../src/graphql.js';
import { SessionsModule } from '../../src/index.js';
import {
  AdkRestModule,
  AgentsRestModule,
  OpenAccess,
  SearchRestModule,
  SessionAccessModule,
  SummarizerRestModule,
} from '../../src/rest.js';
import { SearchModule } from '../../src/search/index.js';
import { SummarizerModule } from '../../src/summarizer/index.js';

/** What is served, by whom, and what that lacks if it is not global. */
const SERVED: readonly (readonly [name: string, served: () => DynamicModule, lacks: () => DynamicModule])[] = [
  ['AgentsModule', () => AgentsRestModule.forRoot(), () => AgentsModule.forRoot()],
  ['AgentsModule', () => AgentsGraphqlModule.forRoot(), () => AgentsModule.forRoot()],
  ['AgentsModule', () => AdkRestModule.forRoot({ path: 'adk' }), () => AgentsModule.forRoot()],
  ['SearchModule', () => SearchRestModule.forRoot(), () => SearchModule.forRoot()],
  ['SearchModule', () => SearchGraphqlModule.forRoot(), () => SearchModule.forRoot()],
  ['SummarizerModule', () => SummarizerRestModule.forRoot(), () => SummarizerModule.forRoot()],
  ['SummarizerModule', () => SummarizerGraphqlModule.forRoot(), () => SummarizerModule.forRoot()],
];

it.each(SERVED)('a module of routes or fields says that it needs a global %s', async (name, served, lacks) => {
  const others = [
    SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
    SessionAccessModule.forRoot({ access: OpenAccess }),
  ];
  const starting = (imports: DynamicModule[]) =>
    Test.createTestingModule({ imports: [...others, ...imports] }).compile();
  const needed = `needs ${name}.forRoot({ …, isGlobal: true })`;
  await expect(starting([served()])).rejects.toThrow(needed);
  await expect(starting([lacks(), served()])).rejects.toThrow(needed);
  const app = await starting([{ ...lacks(), global: true }, served()]);
  await app.close();
});
