# Versions and ciphers of TLS that are asked for, as OVSDB wants them. Sourced.
#
# TLS_MIN_VERSION, TLS_MAX_VERSION  TLS12, 1.2 or TLS 1.2; empty: TLS 1.2 at least, and no upper limit
# TLS_CIPHER_SUITES                 names as IANA has them, separated by commas; empty: those of OVSDB
#
# What is not understood is an error: more than was asked for is not offered in silence.
# shellcheck shell=bash

tls_versions=(TLSv1 TLSv1.1 TLSv1.2 TLSv1.3)

# tls_version VARIABLE: its place among the versions.
tls_version() {
  if [[ ! ${!1} =~ ^(TLS\ ?)?1\.?([0-3])$ ]]; then
    echo "$1 ${!1} is none of TLS10, TLS11, TLS12 and TLS13: write one of these" >&2
    return 1
  fi
  echo "${BASH_REMATCH[2]}"
}

# tls_protocols: e.g. TLSv1.2,TLSv1.3
tls_protocols() {
  local min max=3
  if [[ -z ${TLS_MIN_VERSION:-}${TLS_MAX_VERSION:-} ]]; then
    return
  fi
  if [[ -n ${TLS_MAX_VERSION:-} ]]; then
    max=$(tls_version TLS_MAX_VERSION) || return
  fi
  # As OVSDB has it, which warns of older ones.
  min=$((max < 2 ? max : 2))
  if [[ -n ${TLS_MIN_VERSION:-} ]]; then
    min=$(tls_version TLS_MIN_VERSION) || return
  fi
  if ((min > max)); then
    echo "TLS_MIN_VERSION $TLS_MIN_VERSION is above TLS_MAX_VERSION $TLS_MAX_VERSION: exchange them" >&2
    return 1
  fi
  (IFS=,; echo "${tls_versions[*]:min:max-min+1}")
}

# openssl_cipher NAME: what OpenSSL calls a cipher up to TLS 1.2.
openssl_cipher() {
  if [[ $1 =~ ^TLS_ECDHE_(ECDSA|RSA)_WITH_AES_(128|256)_CBC_SHA$ ]]; then
    echo "ECDHE-${BASH_REMATCH[1]}-AES${BASH_REMATCH[2]}-SHA"
  elif [[ $1 =~ ^TLS_ECDHE_(ECDSA|RSA)_WITH_AES_(128_GCM_SHA256|256_GCM_SHA384)$ ]]; then
    echo "ECDHE-${BASH_REMATCH[1]}-AES${BASH_REMATCH[2]//_/-}"
  elif [[ $1 =~ ^TLS_ECDHE_(ECDSA|RSA)_WITH_CHACHA20_POLY1305(_SHA256)?$ ]]; then
    echo "ECDHE-${BASH_REMATCH[1]}-CHACHA20-POLY1305"
  else
    echo "TLS_CIPHER_SUITES has $1, which is not served: take it out, see docs/user/tls.md" >&2
    return 1
  fi
}

# tls_limits DAEMON: options by which ovn-ctl limits nb-db, sb-db, northd or controller.
tls_limits() {
  local name names protocols cipher ciphers=() suites=()
  protocols=$(tls_protocols) || return
  IFS=, read -r -a names <<<"${TLS_CIPHER_SUITES:-}"
  for name in "${names[@]}"; do
    case $name in
      TLS_AES_128_GCM_SHA256 | TLS_AES_256_GCM_SHA384 | TLS_CHACHA20_POLY1305_SHA256) suites+=("$name") ;;
      *)
        cipher=$(openssl_cipher "$name") || return
        ciphers+=("$cipher")
        ;;
    esac
  done
  if [[ -n $protocols ]]; then
    echo "--ovn-$1-ssl-protocols=$protocols"
  fi
  if ((${#ciphers[@]} > 0)); then
    (IFS=:; echo "--ovn-$1-ssl-ciphers=${ciphers[*]}")
  fi
  if ((${#suites[@]} > 0)); then
    (IFS=:; echo "--ovn-$1-ssl-ciphersuites=${suites[*]}")
  fi
}
