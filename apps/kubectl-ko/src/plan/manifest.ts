import type { ManifestObject } from '@kube-ovn/assembly-controller'
import { parseAllDocuments } from 'yaml'
import { UsageError } from '../errors.ts'

/**
 * Reads the objects of a manifest of YAML or JSON; those of a List one by one.
 *
 * @throws UsageError
 */
export function readManifest(text: string, source: string): readonly ManifestObject[] {
  const documents = parseAllDocuments(text)
  const objects = ('empty' in documents ? [] : documents).flatMap((document, index) => {
    const [error] = document.errors
    if (error !== undefined)
      throw new UsageError('manifest', `${source}: ${error.message.split('\n', 1)[0] ?? ''}`, 'correct it')
    const content: unknown = document.toJS()
    return content === null ? [] : objectsOf(content, `${source}, document ${index + 1}`)
  })
  if (objects.length === 0)
    throw new UsageError('manifest', source, 'write a file with an object of Kubernetes at least')
  return objects
}

function objectsOf(content: unknown, where: string): readonly ManifestObject[] {
  const { apiVersion, kind, metadata, items } = fieldsOf(content)
  if (kind === 'List' && Array.isArray(items))
    return items.flatMap((item, index) => objectsOf(item, `${where}, item ${index + 1}`))
  const { name } = fieldsOf(metadata)
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string' || name === '')
    throw new UsageError('manifest', where, 'write apiVersion, kind and metadata.name')
  return [content as ManifestObject]
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
