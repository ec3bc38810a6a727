declare const singleSpecs: readonly string[];

export = singleSpecs;
