import type { FaultCode } from '../../distribution/fault.ts'
import type { Advice } from './advice.ts'

const anew = 'Fetch it again from where it was made, and check the medium. When it is refused again, do not use it.'

/** Why `gatehouse release` or `gatehouse bundle` refuses: the word that the message begins with. */
export const faultAdvice: Readonly<Record<FaultCode, Advice>> = {
  archive_malformed: {
    means: 'The archive, or the list of its files, is broken off, damaged, has something behind its end, or is made by another program.',
    fix: anew,
  },
  blob_changed: { means: 'A layer, manifest or configuration is not what was signed.', fix: anew },
  blob_missing: {
    means: 'A blob that the image or the chart needs is not there. Of a difference: the registry does not have it either.',
    fix: 'Of a difference, load the bundle first that it was made from. Of a whole bundle, fetch it again.',
  },
  build_failed: {
    means: 'A program that the build runs has failed, or is not installed.',
    fix: 'Read what it said, below the message. Without `--builder buildah`, Node and npm do.',
  },
  file_changed: { means: 'A file is not what was signed or built.', fix: anew },
  file_exists: {
    means: 'Where a bundle or a release would be written, there is something already.',
    fix: 'Name another place, or remove what is there. Of a bundle in parts, remove all of them.',
  },
  file_missing: { means: 'A file of the list is not there, or the name on the command line is wrong.', fix: anew },
  file_unlisted: {
    means: 'There is a file that the signed list does not name.',
    fix: 'Do not use it: somebody added a file after it was signed.',
  },
  key_unusable: {
    means: 'The key is not an ECDSA key on P-256 in PEM, is of the wrong half, or its passphrase is wrong.',
    fix: 'Public keys verify, private keys sign. `openssl pkey -in <file> -text -noout` tells what a key is.',
  },
  manifest_malformed: {
    means: 'An index, a manifest, a chart or the list of packages in an image cannot be read, or refers to what is not known here.',
    fix: 'Of a bundle: fetch it again. Of a build: mend what the message names.',
  },
  registry_refused: {
    means: 'The registry answers with an error, wants to know who asks, or sends uploads or tokens to another host.',
    fix: 'Read what it said; check `--username`, `--password-file`, the rights of that user, and the space of the registry.',
  },
  registry_unreachable: {
    means: 'No connection to the registry, or not to the one that its certificate names.',
    fix: 'Check the name and port in `--to`. A private authority is named with `--ca`; a registry without TLS with `http://`.',
  },
  signature_missing: { means: 'Nobody signed it.', fix: 'Ask for the signed one, or sign your own with `gatehouse release sign`.' },
  signature_wrong: {
    means: 'The list was changed after it was signed, or another key signed it than the one that you believe.',
    fix: 'Compare the fingerprints of the keys with the one that you were given another way. Do not use it until they agree.',
  },
  sources_changed: {
    means: 'The checkout has changes that no commit holds, so that nobody else could build the same.',
    fix: 'Commit them. For a trial, `--allow-dirty` builds them, and marks the image and the provenance.',
  },
  version_differs: {
    means: 'The image or the chart is of another release than the one that is being built, or the base is of other packages than the list.',
    fix: 'Build from the checkout of that release; `gatehouse release generate` brings the chart up to its records, `sh docker/base.sh` makes the base.',
  },
  version_exists: {
    means: 'The tag names something else in the registry, the version is published or locked already, or the folder is not empty.',
    fix: 'A published version stays as it is: make a new one. In a registry of your own, `--replace` moves the tag.',
  },
}
