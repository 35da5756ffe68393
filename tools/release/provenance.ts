/** Something with a digest: `{ sha256: … }` or `{ gitCommit: … }`. */
export interface DigestedThing {
  readonly name: string
  readonly uri?: string
  readonly digest: Readonly<Record<string, string>>
}

/** How a release was made. */
export interface Provenance {
  readonly version: string
  /** `buildah`, `node`, or `given` for an image that was built elsewhere. */
  readonly builder: string
  /** `release`, or `evaluation` with a PostgreSQL in the image. */
  readonly variant: string
  /** True if the sources had uncommitted changes. */
  readonly dirty: boolean
  readonly subjects: readonly DigestedThing[]
  readonly materials: readonly DigestedThing[]
}

/** An in-toto statement with the predicate of SLSA 1. It names no time and no machine, so that the same release gives the same bytes. */
export const provenanceOf = ({ version, builder, variant, dirty, subjects, materials }: Provenance): object => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: subjects,
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: 'urn:gatehouse:release-build:1',
      externalParameters: { version, builder, variant, dirty },
      internalParameters: {},
      resolvedDependencies: materials,
    },
    runDetails: { builder: { id: 'urn:gatehouse:cli', version: { gatehouse: version } } },
  },
})
