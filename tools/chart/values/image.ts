import { choice, dataKey, flag, leaf, objectName, section, strings, type Leaf, type Section, type Tree } from '../node.ts'

/** Returns a leaf for a part of an image's name that the nodes can read. */
const imagePart = (desc: string, end = ''): Leaf =>
  leaf(desc, { type: 'string', pattern: `^(([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]+)?(/[a-z0-9._-]+)*${end})?$` }, '')

const global: Section = {
  desc: 'The values that a parent chart sets once for all its charts.',
  open: true,
  of: {
    imageRegistry: imagePart(
      'The registry of every image of this chart, in place of `image.registry`: the one switch for a private registry.',
      '/?',
    ),
    imagePullSecrets: leaf(
      'The Secrets to pull images with, each as a name or, as Kubernetes has it, as `{ name }`.',
      { type: 'array', items: { type: ['string', 'object'], required: ['name'], properties: { name: { type: 'string', minLength: 1 } } } },
      [],
    ),
    trustedCA: section('Trusted certificate authorities beside those of Node: one ConfigMap or one Secret.', {
      configMap: objectName('The ConfigMap with the certificates.'),
      secret: objectName('The Secret with the certificates.'),
      key: dataKey('The key in it, with the certificates as PEM.', 'ca.crt'),
    }),
  },
}

const image = section('The image of Gatehouse, the only one that the chart uses: `[registry/][namespace/]name:tag[@digest]`.', {
  registry: imagePart('The registry; empty: the nodes find the image by its name alone.', '/?'),
  namespace: imagePart('The part between the registry and the name.'),
  name: leaf('The name.', { type: 'string', minLength: 1 }, 'gatehouse'),
  tag: leaf(
    'The tag, and so the release that runs; empty: the release that this chart was cut for.',
    { type: 'string', pattern: '^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$' },
    '',
  ),
  digest: leaf(
    'The digest, which pins the image beside its tag and survives mirroring.',
    { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    '',
  ),
  pullPolicy: choice('When the nodes pull the image.', ['Always', 'IfNotPresent', 'Never'], 'IfNotPresent'),
})

/** Names, labels, the image and the account that pods run under. */
export const identity: Tree = {
  nameOverride: objectName('The label `app.kubernetes.io/name`; empty: `gatehouse`.'),
  fullnameOverride: objectName('The name that all objects begin with; empty: the name of the Helm release.'),
  namespaceOverride: objectName('The namespace of all objects; empty: that of the Helm release.'),
  commonLabels: strings('Labels of every object.'),
  commonAnnotations: strings('Annotations of every object; those that an object has of its own come before them.'),
  global,
  image,
  serviceAccount: section('The service account of the pods. It has no rights, and pods get no token.', {
    create: flag('Create it.', true),
    name: objectName('Its name; empty: that of the Helm release, or `default` when none is made.'),
    annotations: strings('Its annotations.'),
    labels: strings('More labels of it.'),
  }),
}
