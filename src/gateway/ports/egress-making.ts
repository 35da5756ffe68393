/** Making an egress, which opens sockets: for the frame, the commands and the bundles; features use the egress that they are given. */
export { createEgress } from '../egress/create-egress.ts'
export { metadataService } from '../egress/metadata-services.ts'
export { egressFor } from '../egress/narrowed.ts'
