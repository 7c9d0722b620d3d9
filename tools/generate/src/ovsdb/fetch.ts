import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SchemaSource } from './databases.ts'

const run = promisify(execFile)

const dockerfile = `FROM debian:trixie-slim
RUN apt-get update \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ovn-central ovn-ic-db openvswitch-switch \\
 && rm -rf /var/lib/apt/lists/*
`

/** Copies the .ovsschema files of Debian trixie's OVN and OVS packages into `directory`. Needs Docker. */
export async function fetchPackagedSchemas(
  sources: readonly SchemaSource[],
  directory: string,
): Promise<void> {
  const context = await mkdtemp(join(tmpdir(), 'ovsschema-'))
  try {
    await writeFile(join(context, 'Dockerfile'), dockerfile)
    const { stdout } = await run('docker', ['build', '--quiet', '--network', 'host', context])
    for (const source of sources) {
      const image = stdout.trim()
      const schema = await run('docker', [
        'run',
        '--rm',
        '--network',
        'none',
        image,
        'cat',
        source.packagedPath,
      ])
      await writeFile(join(directory, source.schemaFile), schema.stdout)
    }
  } finally {
    await rm(context, { recursive: true })
  }
}
