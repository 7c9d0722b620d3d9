import { KubeOvnError } from '@kube-ovn/errors'

/** Says that a plugin that has to be copied to the node is not in the image. */
export class PluginMissingError extends KubeOvnError<{
  readonly plugin: string
  readonly directories: readonly string[]
}> {
  readonly code = 'cni-plugin-missing'
  readonly retry = 'never'

  constructor(details: PluginMissingError['details']) {
    super('CNI plugin to be installed was not found', details)
  }
}
