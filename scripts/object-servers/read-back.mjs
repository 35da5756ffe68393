// Reads objects with the SDK of their vendor: `node read-back.mjs s3|azure|gcs <options as JSON> <key>`. Prints the object.
const [vendor, json, key] = process.argv.slice(2)
const { endpoint, region, bucket, id, secret, container } = JSON.parse(json)

const readers = {
  async s3() {
    const { S3Client, GetObjectCommand } = await import('@aws-sdk/client-s3')
    const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId: id, secretAccessKey: secret } })
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
    return Body.transformToString()
  },
  async gcs() {
    const { Storage } = await import('@google-cloud/storage')
    const storage = new Storage({ apiEndpoint: endpoint, projectId: 'project', useAuthWithCustomEndpoint: false })
    const [content] = await storage.bucket(bucket).file(key).download({ validation: 'md5' })
    return content.toString()
  },
  async azure() {
    const { BlobServiceClient, StorageSharedKeyCredential } = await import('@azure/storage-blob')
    const blobs = new BlobServiceClient(endpoint, new StorageSharedKeyCredential(id, secret)).getContainerClient(container)
    if (key === '') return void (await blobs.createIfNotExists())
    return (await blobs.getBlobClient(key).downloadToBuffer()).toString()
  },
}

process.stdout.write((await readers[vendor]()) ?? '')
