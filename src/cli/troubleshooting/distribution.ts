import type { FaultCode } from '../../distribution/fault.ts'
import type { Advice } from './advice.ts'

const anew = 'Fetch it again from its source, and check the medium. If it is refused again, do not use it.'

/** Why `gatehouse release` or `gatehouse bundle` refuses: the word that the message begins with. */
export const faultAdvice: Readonly<Record<FaultCode, Advice>> = {
  archive_malformed: {
    means: 'The archive, or the list of its files, is incomplete or damaged, has data after its end, or was made by another program.',
    fix: anew,
  },
  blob_changed: { means: 'A layer, manifest or configuration differs from the signed one.', fix: anew },
  blob_missing: {
    means: 'A blob that the image or the chart needs is missing. For a difference: the registry does not have it either.',
    fix: 'For a difference, first load the bundle that it was made from. Fetch a whole bundle again.',
  },
  build_failed: {
    means: 'A program that the build runs failed, or is not installed.',
    fix: 'Read its output, below the message. Without `--builder buildah` the build needs only Node and npm.',
  },
  file_changed: { means: 'A file differs from the one that was signed or built.', fix: anew },
  file_exists: {
    means: 'The place for the bundle or the release already contains something.',
    fix: 'Name another place, or remove the content. If the bundle is in parts, remove all of them.',
  },
  file_missing: { means: 'A file of the list is missing, or the name on the command line is wrong.', fix: anew },
  file_unlisted: {
    means: 'The archive or folder contains a file that the signed list does not name.',
    fix: 'Do not use it: the file was added after signing.',
  },
  key_unusable: {
    means: 'The key is not an ECDSA key on P-256 in PEM, is the wrong half of the pair, or its passphrase is wrong.',
    fix: 'Public keys verify, private keys sign. `openssl pkey -in <file> -text -noout` shows the kind of a key.',
  },
  manifest_malformed: {
    means: 'An index, a manifest, a chart or the list of packages in an image is unreadable, or refers to something unknown.',
    fix: 'Fetch a bundle again. For a build, correct the fault in the message.',
  },
  nightly_differs: {
    means: 'The nightly run proved another commit than the one from which the release is built, or the sources had uncommitted changes.',
    fix: 'Check out the commit of the release, run `npm run nightly` there, and build again with `--nightly`.',
  },
  nightly_failed: {
    means: 'A part of the nightly run failed or did not run.',
    fix: 'Run `npm run nightly` to its end. Its record names each part with its result.',
  },
  nightly_missing: {
    means: 'The release holds no record of a nightly run, so the long proofs of its commit are unknown.',
    fix: 'Run `npm run nightly`, and build with `--nightly <file>`. For a trial, verify and publish with `--without-nightly`.',
  },
  registry_refused: {
    means: 'The registry answers with an error, requires a login, or redirects uploads or tokens to another host.',
    fix: 'Read its answer in the message. Check `--username`, `--password-file`, the rights of this user, and the free space of the registry.',
  },
  registry_unreachable: {
    means: 'The command cannot connect to the registry, or the certificate is for another host.',
    fix: 'Check the name and port in `--to`. Name a private authority with `--ca`. For a registry without TLS, write `http://`.',
  },
  signature_missing: { means: 'It has no signature.', fix: 'Ask for a signed one, or sign your own with `gatehouse release sign`.' },
  signature_wrong: {
    means: 'The list was changed after signing, or it was signed with a key that you do not trust.',
    fix: 'Compare the fingerprint of the key with the one that you got from another source. Do not use it until they agree.',
  },
  sources_changed: {
    means: 'The checkout has uncommitted changes, so the build could not be repeated.',
    fix: 'Commit them. For a trial, use `--allow-dirty`: it marks the image and the provenance.',
  },
  version_differs: {
    means: 'The image or the chart belongs to another release, or the base has other packages than the list.',
    fix: 'Build from the checkout of that release. `gatehouse release generate` updates the chart, `sh docker/base.sh` builds the base.',
  },
  version_exists: {
    means:
      'The tag already names something different in the registry, the version is already published or locked, or the folder is not empty.',
    fix: 'A published version cannot change: make a new version. In your own registry, `--replace` moves the tag.',
  },
}
