import { Controller, Get, Inject, UseFilters } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { compareBytes } from '../domain/values/ids.js';
import { checkedLimit } from '../domain/values/paging.js';
import { readsOf } from '../reads-of.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { AccessChecks } from '../transport/access-checks.js';
import { ApiProblems, ApiResult } from './api-responses.js';
import { PAGE, id } from '../surface/ids-and-pages.js';
import { integer, listOf, optional, shape, text } from '../surface/shape.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { dtoOf, requestDto } from './make-dto.js';
import { ProblemFilter } from './problem.filter.js';
import { queryReader } from './read-request.js';

interface AppPage {
  readonly apps: readonly string[];
  readonly limit: number;
  readonly nextCursor?: string;
}

const APP_PAGE = shape<AppPage>('AppPage', {
  example: { apps: ['shop'], limit: 100 },
  fields: {
    apps: listOf(id(), 'The names of the apps, in the order of their bytes.'),
    limit: integer(undefined, { minimum: 1 }),
    nextCursor: optional(text('For the next page. Missing on the last page.')),
  },
});

const PageQuery = requestDto(PAGE, 'query');
const readQuery = queryReader<{ readonly limit?: number; readonly cursor?: string }>(PageQuery, PAGE);

/** The apps. The access rule is asked about each, so that no guard asks it about one. */
@ApiTags('sessions')
@Controller('apps')
@UseFilters(ProblemFilter)
export class AppsController {
  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listSessionApps',
    summary: 'Lists the apps that have sessions',
    description: 'Only those of which the caller may list sessions of all users, or those that a filter matches.',
  })
  @ApiQuery({ type: PageQuery })
  @ApiResult(200, 'A page of apps.', { type: dtoOf(APP_PAGE) })
  @ApiProblems()
  async list(@Exchange() exchange: CurrentExchange): Promise<AppPage> {
    exchange.setSecurityHeaders();
    const { limit: asked, cursor } = readQuery(exchange.request.query);
    const limit = checkedLimit(asked);
    // A caller without a user is refused before the store is asked.
    await this.access.appsOf([], exchange.request);
    const names = await readsOf(this.sessions).listApps();
    const rest = cursor === undefined ? names : names.filter((name) => compareBytes(name, cursor) > 0);
    const found = await this.access.appsOf(rest, exchange.request, { whose: 'all', most: limit + 1 });
    const apps = found.slice(0, limit);
    const last = apps.at(-1);
    const page = { apps, limit, ...(found.length > limit && last !== undefined && { nextCursor: last }) };
    exchange.linkPages(page);
    return page;
  }
}
