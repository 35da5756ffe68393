import { ReleaseRecord } from '../../src/release/record.ts'
import type { Project } from '../../src/release/project.ts'
import type { z } from 'zod'

type Draft = Partial<z.input<typeof ReleaseRecord>>

/** A record that follows its schema; the subject of a test is given. */
export const record = (draft: Draft = {}): ReleaseRecord =>
  ReleaseRecord.parse({
    version: '1.0.0',
    date: '2025-01-01',
    chart: null,
    kind: 'major',
    postgres: '>=14 <19',
    kubernetes: '>=1.25',
    notes: 'One thing changed.',
    ...draft,
  })

/** A small project of three releases that no rule has anything against; tests change one thing in it. */
export function soundProject(): Project {
  const releases = [
    record({
      features: { added: ['logs'] },
      env: { added: ['PORT'] },
      api: { added: ['GET /logs'] },
      migrations: [{ id: 'v01.00.00/001-logs', phase: 'expand' }],
    }),
    record({
      version: '1.1.0',
      date: '2025-02-01',
      chart: '>1.0.0',
      kind: 'minor',
      features: { added: ['tags'], changed: ['logs'] },
      api: { added: ['GET /tags'], changed: ['GET /logs'] },
      migrations: [
        { id: 'v01.01.00/001-path', phase: 'expand' },
        { id: 'v01.01.00/002-path-of-old-rows', phase: 'backfill' },
      ],
      breaking: [{ id: 'not-root', check: 'volumes-writable', fix: 'Change the owner.' }],
    }),
    record({
      version: '1.2.0',
      date: '2025-03-01',
      chart: '>=1.1.0',
      kind: 'minor',
      migrations: [{ id: 'v01.02.00/001-drop-path', phase: 'contract', needs: ['v01.01.00/002-path-of-old-rows'], minApp: '1.1.0' }],
    }),
  ]
  const migrations = Object.fromEntries(releases.flatMap((release) => release.migrations.map(({ id }) => [id, `hash of ${id}`])))
  return {
    table: {
      releases,
      charts: [
        { version: '1.0.0', date: '2025-01-01', appVersion: '1.0.0' },
        { version: '1.1.0', date: '2025-02-01', appVersion: '1.1.0' },
      ],
    },
    published: releases.map(({ version, date, chart, breaking }) => ({ version, date, chart, items: 1, breaking: breaking.length > 0 })),
    code: {
      version: '1.2.0',
      features: [
        { id: 'logs', since: '1.0.0', changes: ['1.1.0'] },
        { id: 'tags', since: '1.1.0' },
      ],
      settings: [{ name: 'PORT', since: '1.0.0' }],
      fields: [],
      operations: (level) => (level === '1.0.0' ? ['GET /logs'] : ['GET /logs', 'GET /tags']),
      preflightChecks: ['volumes-writable'],
    },
    hashes: { migrations, records: { '1.0.0': 'hash of 1.0.0' } },
    locks: [
      {
        version: '1.0.0',
        record: 'hash of 1.0.0',
        migrations: { 'v01.00.00/001-logs': 'hash of v01.00.00/001-logs' },
        images: ['registry.example/gatehouse:1.0.0'],
        digests: {},
      },
    ],
    generated: [{ path: 'CHANGELOG.md', found: 'as it should be', expected: 'as it should be' }],
    chart: {
      files: {
        'Chart.yaml':
          'home: https://gatehouse.example\nsources:\n  - https://gatehouse.example/git\n- https://gatehouse.example/mirror\nname: app\n',
        'values.schema.json': '{\n  "$schema": "http://json-schema.org/draft-07/schema#",\n  "$ref": "#/definitions/port"\n}',
      },
      images: ['registry.example/gatehouse:1.0.0'],
      settings: ['PORT'],
    },
  }
}

/** The project with one of its releases changed. */
export function withRelease(project: Project, version: string, change: Partial<ReleaseRecord>): Project {
  const releases = project.table.releases.map((release) => (release.version === version ? { ...release, ...change } : release))
  return { ...project, table: { ...project.table, releases } }
}
