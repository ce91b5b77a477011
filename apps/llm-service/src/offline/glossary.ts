/**
 * Words of other languages for what technical documents, which are mostly English, call by an English word; so a
 * question in Japanese, Chinese or Indonesian finds them. Each line: English words, then the others.
 */
const LINES = `
retry | リトライ 再試行 重试 重試 percobaan
lock | ロック 排他 锁 鎖 加锁 kunci penguncian
timeout | タイムアウト 超时 超時 逾时
error | エラー 错误 錯誤 kesalahan galat
log logging | ログ ロギング 日志 日誌 pencatatan
test testing | テスト 测试 測試 pengujian
agent | エージェント 智能体 代理 agen
framework | フレームワーク 框架 kerangka
cache | キャッシュ 缓存 快取 tembolok
queue | キュー 队列 佇列 antrean
database | データベース 数据库 資料庫 basisdata
server | サーバー サーバ 服务器 伺服器 peladen
client | クライアント 客户端 用戶端 klien
connection | 接続 コネクション 连接 連線 koneksi
security | セキュリティ 安全 keamanan
authentication auth | 認証 认证 鉴权 autentikasi otentikasi
performance | パフォーマンス 性能 kinerja performa
stream streaming | ストリーム ストリーミング 流 aliran
event | イベント 事件 peristiwa
workflow | ワークフロー 工作流 alur
cluster | クラスター クラスタ 集群 klaster
concurrency concurrent | 並行 并发 並發 konkurensi
parallel concurrently | 並列 并行 平行 paralel
level | レベル 级别 級別 等级 tingkat
default | デフォルト 既定値 初期値 默认 默认值 預設 bawaan
limit | 制限 上限 限制 batas batasan
config configuration | 設定 配置 konfigurasi
type | 型 类型 tipe
schema | スキーマ 模式 skema
validation | 検証 バリデーション 验证 校验 validasi
parser parse | パーサー 構文解析 解析 pengurai
search | 検索 搜索 检索 pencarian
model | モデル 模型
token | トークン 令牌
price pricing | 価格 料金 价格 費用 费用 harga biaya
license | ライセンス 许可证 许可 lisensi
open-source source | オープンソース 开源 開源
command | コマンド 命令 perintah
compression compress | 圧縮 压缩 kompresi
encryption | 暗号 暗号化 加密 enkripsi
transaction | トランザクション 事务 transaksi
promise | プロミス
memory | メモリ メモリー 内存 memori
file | ファイル 文件 berkas
network | ネットワーク 网络 jaringan
format | 形式 フォーマット 格式
color | 色 カラー 颜色 warna
date time | 日付 日期 tanggal`;

const ENGLISH = new Map<string, string[]>();
for (const line of LINES.trim().split('\n')) {
  const [english = '', others = ''] = line.split(' | ');
  for (const other of others.split(' ')) {
    ENGLISH.set(other, [...(ENGLISH.get(other) ?? []), ...english.split(' ')]);
  }
}

/** The English words for a word of another language; `[]` where the list has none. */
export function inEnglish(word: string): readonly string[] {
  return ENGLISH.get(word) ?? [];
}

const UNSPACED = /^[\p{Script=Han}\p{Script=Katakana}ー]{2,}$/u;

/**
 * The words of the list that are written without spaces around them, longest first, and runs of Katakana: what the
 * dictionary of `Intl.Segmenter` often cuts in pieces.
 */
export const TECHNICAL = new RegExp(
  `${[...ENGLISH.keys()]
    .filter((word) => UNSPACED.test(word))
    .sort((a, b) => b.length - a.length)
    .join('|')}|[\\p{Script=Katakana}ー]{2,}`,
  'gu',
);
