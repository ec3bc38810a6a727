import { Module } from '@nestjs/common';
import { ConditionalModule } from '@nestjs/config';
import { flag } from '../config/setting.js';
import { SearchModule } from '../search/index.js';
import { SearchRestModule } from '../search/rest/index.js';

@Module({ imports: [SearchModule.forRoot({ isGlobal: true }), SearchRestModule.forRoot()] })
class SearchOfApp {}

/** Search and its routes, where `SEARCH` is on. */
export const searchIfWanted = ConditionalModule.registerWhen(
  SearchOfApp,
  ({ SEARCH = '' }) => flag.read(SEARCH) === true,
  { debug: false },
);
