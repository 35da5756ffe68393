import { createHash } from 'node:crypto'
import { describeError } from '../../app/logging/describe-error.ts'
import { version } from '../../config/version.ts'
import { NotPossible } from '../preflight/not-possible.ts'
import { contentSource, historySource, postgresSource, recentSource } from './database-sources.ts'
import type { KnownSecret } from '../../lib/text/secret-forms.ts'
import { healthSource, journalSource, preflightSource, settingsSource, versionsSource } from './installation-sources.ts'
import { logSource } from './log-source.ts'
import { createRedactor, redactDocument, type Redact, type RedactedText } from './redactor.ts'
import type { CollectedFile, Scene, Source } from './source.ts'

/** One file of the bundle, clean. */
export interface BundleFile {
  readonly path: string
  readonly bytes: Buffer
}

/** Every part of a bundle, in its order. */
export const sources: readonly Source[] = [
  versionsSource,
  settingsSource,
  preflightSource,
  healthSource,
  historySource,
  postgresSource,
  contentSource,
  recentSource,
  journalSource,
  logSource,
]

/** The known secrets, and the sources of secrets that could not be read. */
export interface SecretInventory {
  readonly secrets: readonly KnownSecret[]
  readonly gaps: readonly string[]
}

interface MissingPart {
  readonly what: string
  readonly why: string
}

/** Collects every part, takes the secrets out, and lists in `manifest.json` the parts that are in it and those that are not. */
export async function collectBundle(scene: Scene, known: SecretInventory, onPart: (name: string) => void): Promise<Bundle> {
  const redact = createRedactor(known.secrets)
  const missing: MissingPart[] = []
  const collected: CollectedFile[] = []
  for (const source of sources) {
    onPart(source.name)
    try {
      collected.push(...(await source.collect(scene)))
    } catch (error) {
      missing.push({ what: source.name, why: error instanceof NotPossible ? error.message : describeError(error).message })
    }
  }
  const clean = collected.map((file) => ({ file, redacted: clear(file, redact) }))
  const manifest = describe(clean, { known, missing })
  const { text } = clear({ path: 'manifest.json', document: manifest }, redact)
  const files = clean.map(({ file, redacted }) => ({ path: file.path, bytes: Buffer.from(redacted.text) }))
  return { manifest, files: [{ path: 'manifest.json', bytes: Buffer.from(text) }, ...files] }
}

/** The collected parts. */
export interface Bundle {
  readonly manifest: ReturnType<typeof describe>
  readonly files: readonly BundleFile[]
}

const clear = (file: CollectedFile, redact: Redact): RedactedText =>
  'text' in file ? redact(file.text) : redactDocument(file.document, redact)

interface Clean {
  readonly file: CollectedFile
  readonly redacted: RedactedText
}

function describe(
  clean: readonly Clean[],
  { known, missing }: { readonly known: SecretInventory; readonly missing: readonly MissingPart[] },
) {
  const sum = (of: 'byValue' | 'byPattern') => clean.reduce((total, { redacted }) => total + redacted[of], 0)
  return {
    product: 'gatehouse',
    version: version(),
    created_at: new Date().toISOString(),
    files: clean.map(({ file, redacted: { text, byValue, byPattern } }) => ({
      path: file.path,
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
      redactions: { by_value: byValue, by_pattern: byPattern },
    })),
    redactions: { by_value: sum('byValue'), by_pattern: sum('byPattern') },
    // Named so that the redactor of documents does not mistake the counts for secrets.
    known_values: countBy(known.secrets.map(({ label }) => label)),
    gaps: known.gaps,
    missing,
  }
}

function countBy(labels: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const label of labels) counts[label] = (counts[label] ?? 0) + 1
  return counts
}
