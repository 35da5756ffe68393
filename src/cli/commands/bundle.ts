import type { Command } from 'commander'
import { explain } from '../command-help.ts'
import { addBundleCreate } from './bundle-create.ts'
import { addBundleDiff } from './bundle-diff.ts'
import { addBundleLoad } from './bundle-load.ts'
import { addBundleVerify } from './bundle-verify.ts'

/** `gatehouse bundle create|verify|load|diff`. */
export function addBundle(program: Command): void {
  const bundle = explain(program.command('bundle'), {
    example: 'gatehouse bundle verify gatehouse-1.12.0.bundle.tar --key gatehouse.pub',
  }).description(
    'Carries a release into a network that has no way out: images, chart, bills of materials and documents in one signed archive.',
  )
  addBundleCreate(bundle)
  addBundleVerify(bundle)
  addBundleLoad(bundle)
  addBundleDiff(bundle)
}
