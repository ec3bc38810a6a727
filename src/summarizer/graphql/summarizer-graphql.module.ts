import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { SessionAccess } from '../../sessions/faces/session-access.js';
import { SummariesResolver } from './summaries.resolver.js';

/** Who may touch what. */
export interface SummarizerGraphqlOptions {
  /** Decides who may touch what: mostly the class that `SessionsGraphqlModule` has. */
  readonly access: Type<SessionAccess>;
  /** What provides `SummarizerSessionManager`, and what `access` needs, where they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/**
 * The queries and the mutation of summaries, for the `GraphQLModule` of an app that has `SummarizerModule`.
 *
 * @example
 * imports: [
 *   SummarizerModule.forRoot({ events: 40, isGlobal: true }),
 *   SessionsGraphqlModule.forRoot({ access: OwnSessions }),
 *   SummarizerGraphqlModule.forRoot({ access: OwnSessions }),
 * ];
 */
@Module({ providers: [SummariesResolver] })
export class SummarizerGraphqlModule {
  static forRoot({ access, imports = [] }: SummarizerGraphqlOptions): DynamicModule {
    return {
      module: SummarizerGraphqlModule,
      imports: [...imports],
      providers: [{ provide: SessionAccess, useClass: access }],
    };
  }
}
