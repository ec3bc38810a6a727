import { type DynamicModule, Module } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { ExplorerAssets } from './explorer-assets.js';
import { EXPLORER_OPTIONS, type ExplorerSettings } from './explorer-options.js';
import { ExplorerController } from './explorer.controller.js';

/** Serves the explorer. */
@Module({ controllers: [ExplorerController] })
export class ExplorerModule {
  static at(settings: ExplorerSettings): DynamicModule {
    return {
      module: ExplorerModule,
      imports: [RouterModule.register([{ path: settings.path, module: ExplorerModule }])],
      providers: [ExplorerAssets, { provide: EXPLORER_OPTIONS, useValue: settings }],
    };
  }
}
