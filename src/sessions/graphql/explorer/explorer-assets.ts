import { stat } from 'node:fs/promises';
import { extname, join, relative, resolve } from 'node:path';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type * as AltairStatic from 'altair-static';
import { loadPackage } from '../../module/load-package.js';
import { EXPLORER_OPTIONS, type ExplorerSettings } from './explorer-options.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};

type Altair = Pick<typeof AltairStatic, 'getDistDirectory' | 'isSandboxFrame' | 'renderAltair'>;

export interface Asset {
  readonly file: string;
  readonly type: string;
  readonly length: number;
  /** Scripts of a user run in a frame of their own, cut off from the page. */
  readonly isSandbox: boolean;
}

/** The page of Altair and what it loads, all of it from the package on this machine. */
@Injectable()
export class ExplorerAssets implements OnModuleInit {
  #altair: Altair | undefined;

  constructor(@Inject(EXPLORER_OPTIONS) private readonly settings: ExplorerSettings) {}

  /** When the app starts, so that it says at once what is missing. */
  async onModuleInit(): Promise<void> {
    this.#altair = await loadPackage(() => import('altair-static'), 'The GraphQL explorer');
  }

  /** The page for whoever reached it by this host. */
  page(baseURL: string, webSocketHost: string | undefined): string {
    const { endpoint } = this.settings;
    return this.#loaded().renderAltair({
      baseURL,
      endpointURL: endpoint,
      disableAccount: true,
      ...(webSocketHost !== undefined && {
        subscriptionsEndpoint: `${webSocketHost}${endpoint}`,
        initialSubscriptionsProvider: 'graphql-ws',
      }),
    });
  }

  /** A file of the page, or nothing where there is none of that name. */
  async find(path: string): Promise<Asset | undefined> {
    const altair = this.#loaded();
    const folder = altair.getDistDirectory();
    const file = resolve(join(folder, path));
    const type = TYPES[extname(file)];
    if (type === undefined || relative(folder, file).startsWith('..')) return undefined;
    const found = await stat(file).catch(() => undefined);
    if (!found?.isFile()) return undefined;
    return { file, type, length: found.size, isSandbox: altair.isSandboxFrame(relative(folder, file)) };
  }

  #loaded(): Altair {
    if (!this.#altair) throw new Error('The explorer is asked for before the app has started');
    return this.#altair;
  }
}
