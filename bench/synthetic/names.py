"""Data of realistic names of people, in many languages, scripts, orders and lengths."""

from dataclasses import dataclass

type Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Culture:
    """Given and family names of a culture, as pairs of a Latin form and a native one or "".

    `weight` is the percentage of people with such names. `native_format` is the format of native names from
    `given` and `family`, or empty. Institutions are pairs of name and country.
    """

    weight: int
    given: tuple[Name, ...]
    family: tuple[Name, ...]
    institutions: tuple[tuple[str, str], ...]
    native_format: str


def culture(weight: int, native_format: str, given: str, family: str, institutions: str) -> Culture:
    """Parse names such as "Wei/伟 Mary-Ann van_Dyk", and institutions such as "Carmel Institute, Israel"."""

    def names(text: str) -> tuple[Name, ...]:
        parts = (word.replace("_", " ").partition("/") for word in text.split())
        return tuple((name, native.replace(" ", "_")) for name, _, native in parts)

    institution_parts = (institution.strip().partition(", ") for institution in institutions.split(";"))
    hosts = tuple((name, country) for name, _, country in institution_parts)
    return Culture(weight, names(given), names(family), hosts, native_format)


CULTURES = (
    culture(
        30,
        "{family}{given}",
        "Wei/伟 Fang/芳 Jing/静 Lei/磊 Yan/艳 Jun/军 Jie/杰 Xiaoming/晓明 Yuhan/雨涵 Zihao/子豪 Haoran/浩然 Yifan/一凡",
        "Wang/王 Li/李 Zhang/张 Liu/刘 Chen/陈 Yang/杨 Huang/黄 Zhao/赵 Wu/吴 Zhou/周 Xu/徐 Sun/孙 Ma/马 Zhu/朱 Hu/胡",
        "Tianhe University, China; Donghu Institute of Technology, China",
    ),
    culture(
        26,
        "",
        "Emma Olivia James William Sophia Mary-Ann Benjamin Charlotte Jack Alice Daniel Grace Samuel",
        "Smith Johnson Brown Taylor Miller Davis Wilson Clark Lewis Walker Hall Young Allen King Wright",
        "Northern Lakes University, United States; Bayview Institute of Technology, United States",
    ),
    culture(
        8,
        "{family}{given}",
        "Min-jun/민준 Seo-yeon/서연 Ji-hoon/지훈 Ha-eun/하은 Do-yun/도윤 Ye-jin/예진 Sung-min/성민 Jiwoo/지우 Hyun-woo/현우",
        "Kim/김 Lee/이 Park/박 Choi/최 Jung/정 Kang/강 Cho/조 Yoon/윤 Jang/장 Lim/임 Shin/신 Hwang/황 Namgung/남궁",
        "Hangang University, South Korea; Daejeon Graduate School of Computing, South Korea",
    ),
    culture(
        9,
        "{given} {family}",
        "Aarav/आरव Priya/प्रिया Rohan/रोहन Ananya/अनन्या Vikram/विक्रम Kavya/काव्या Arjun/अर्जुन Neha/नेहा",
        "Sharma/शर्मा Patel/पटेल Gupta/गुप्ता Iyer/अय्यर Reddy/रेड्डी Singh/सिंह Kumar/कुमार Rao/राव",
        "Deccan Institute of Science, India; Ganga Technical University, India",
    ),
    culture(
        8,
        "",
        "Lukas Jürgen Käthe Søren Björn Åsa Françoise Éloïse José María Inês João Łukasz Małgorzata Zdeněk",
        "Müller Schröder Größmann Åkesson Sørensen Jørgensen Lefèvre Dubois_de_Montreynaud García_Márquez",
        "Technische Universität Seeheim, Germany; Universidad del Valle Alto, Spain",
    ),
    culture(
        5,
        "{family} {given}",
        "Haruto/陽翔 Yui/結衣 Sota/蒼太 Aoi/葵 Ren/蓮 Sakura/さくら Kenji/健二 Yōko/洋子 Takumi/拓海 Misaki/美咲 Ryō/涼",
        "Satō/佐藤 Suzuki/鈴木 Takahashi/高橋 Tanaka/田中 Watanabe/渡辺 Itō/伊藤 Yamamoto/山本 Nakamura/中村 Kobayashi/小林",
        "Kamogawa University, Japan; Institute for Language Research Sendai, Japan",
    ),
    culture(
        4,
        "{given} {family}",
        "Alexey/Алексей Dmitry/Дмитрий Anastasia/Анастасия Olga/Ольга Sergey/Сергей Ekaterina/Екатерина",
        "Ivanov/Иванов Petrov/Петров Kuznetsova/Кузнецова Volkov/Волков Shevchenko/Шевченко",
        "Dnipro Polytechnic, Ukraine; Institute of Applied Inference, Kazakhstan",
    ),
    culture(
        4,
        "{given} {family}",
        "Mohammed/محمد Fatima/فاطمة Omar/عمر Aisha/عائشة Youssef/يوسف Layla/ليلى Ali/علي Noor/نور",
        "al-Khatib/الخطيب Haddad/حداد el-Sayed/السيد Rahmani/رحمانی Hosseini/حسینی bin_Salim/بن_سالم",
        "Gulf University of Science, Qatar; Alborz Institute of Technology, Iran",
    ),
    culture(
        3,
        "{given} {family}",
        "Yael/יעל Noam/נועם Tamar/תמר Eitan/איתן Michal/מיכל Georgios/Γεώργιος Eleni/Ελένη Nikos/Νίκος",
        "Cohen/כהן Levi/לוי Mizrahi/מזרחי Papadopoulos/Παπαδόπουλος Nikolaidou/Νικολαΐδου",
        "Carmel Institute, Israel; University of Nea Polis, Greece",
    ),
    culture(
        3,
        "",
        "Nguyễn Thị_Hương Văn_Đức Minh_Anh Chiamaka Oluwaseun Kwame Thandiwe Abebe Wanjiru Nthabiseng",
        "Nguyễn Trần Phạm Đặng Okafor Adeyemi Mensah Dlamini Tadesse Kamau Suryadi Wijaya Lê",
        "Mekong University, Vietnam; Lagos Centre for Machine Intelligence, Nigeria",
    ),
)
