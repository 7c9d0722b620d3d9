/** Replaced by the bundler with the version of the product. */
declare const KUBE_OVN_VERSION: string | undefined

export const version = typeof KUBE_OVN_VERSION === 'string' ? KUBE_OVN_VERSION : 'development'
