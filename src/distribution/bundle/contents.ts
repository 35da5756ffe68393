import { z } from 'zod'

/** The bundle's own description, in `bundle.json`. */
export const BundleInfo = z.object({
  /** The form of the archive; a program that supports only lower numbers must refuse it. */
  format: z.literal(1),
  product: z.literal('gatehouse'),
  release: z.string(),
  /** The chart's version; null: there is none. */
  chart: z.string().nullable(),
  artifacts: z.array(z.object({ name: z.string(), tag: z.string(), digest: z.string() })),
  /** The price catalogue that the release brings; absent in older bundles. */
  prices: z.object({ as_of: z.string(), digest: z.string() }).optional(),
})
export type BundleInfo = z.output<typeof BundleInfo>

/** The parts that a difference leaves out, in `DIFFERENCE.json`. It is not signed: it can only make a load ask the registry for more. */
export const Difference = z.object({
  /** The release of the bundle that has the rest. */
  from: z.string(),
  omitted: z.array(z.string().regex(/^blobs\/sha256\/[0-9a-f]{64}$/)),
})
export type Difference = z.output<typeof Difference>

export const bundleFile = 'bundle.json'
export const differenceFile = 'DIFFERENCE.json'
